import type { CommandLine } from '../config/command-line.ts';
import { isNode } from '../profile/instrument.ts';
import { type Project, scriptOf } from './read-project.ts';

/** A script that does nothing but start a program, with what it sets before; one of a shell's operators has more in it. */
const plainStart =
  /^(?:(?:cross-env|env)\s+)?((?:\w+=[^\s;&|]+\s+)*)(node|tsx)((?:\s+[^\s;&|<>()`$]+)+)$/;

/**
 * What a command such as `npm start` has node do, for the commands that need flags of node; undefined where package.json
 * does not say it.
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
