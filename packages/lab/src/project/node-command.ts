import type { CommandLine } from '../config/command-line.ts';
import { isNode } from '../profile/instrument.ts';
import { type Project, scriptOf } from './read-project.ts';

/** A script that only starts a program, with its settings before it; one with shell operators does more. */
const plainStart =
  /^(?:(?:cross-env|env)\s+)?((?:\w+=[^\s;&|]+\s+)*)(node|tsx)((?:\s+[^\s;&|<>()`$]+)+)$/;

/**
 * Returns the node command that a command such as `npm start` runs, for the commands that need flags of node; undefined if
 * package.json does not contain it.
 */
export function nodeCommandOf(
  { command, env }: CommandLine,
  project: Project | undefined,
): string | undefined {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  if (isNode(command[0]!)) return `${settings.join('')}${command.join(' ')}`;
  const script = project && scriptOf(command, project);
  const text = script === undefined ? command.join(' ') : project!.scripts[script]!;
  const [, own, program, rest] = plainStart.exec(text.trim()) ?? [];
  // `tsx watch` restarts what it starts.
  if (program === undefined || /^\s+watch\s/.test(rest!)) return undefined;
  return `${settings.join('')}${own}node${program === 'tsx' ? ' --import tsx' : ''}${rest}`;
}
