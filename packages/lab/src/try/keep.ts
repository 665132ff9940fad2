import { relative } from 'node:path';
import { isNode } from '../profile/instrument.ts';
import { type Project, scriptOf } from '../project/read-project.ts';
import { type CommandLine, quotedWord } from '../config/command-line.ts';
import type { Preload } from './packages.ts';

const install = { npm: 'npm install', pnpm: 'pnpm add', yarn: 'yarn add', bun: 'bun add' };

/** Returns the commands that keep the measured set-up: the packages that the app lacks, and the line that starts it. */
export function keepLines(
  { command, env }: CommandLine,
  project: Project | undefined,
  preloads: readonly Preload[],
): string[] {
  const missing = preloads.filter(({ from }) => from !== 'app').map(({ name }) => name);
  return [
    ...(missing.length === 0 ? [] : [`${install[project?.manager ?? 'npm']} ${missing.join(' ')}`]),
    startLine(command, env, project, preloads),
  ];
}

function startLine(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  project: Project | undefined,
  preloads: readonly Preload[],
): string {
  const imports = preloads.map(({ name }) => `--import ${name}/register`).join(' ');
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quotedWord(value)} `);
  const [program, ...args] = command;
  if (isNode(program!)) {
    const words = args.map((each) => quotedWord(shown(each, project)));
    return [`${settings.join('')}node ${imports}`, ...words].join(' ');
  }
  const script = project && scriptOf(command, project);
  const text = script === undefined ? undefined : project!.scripts[script]!;
  if (text !== undefined && nodeInScript.test(text)) {
    const started = text.replace(nodeInScript, `$1node ${imports}`);
    return `package.json: "${script}": ${JSON.stringify(started)}`;
  }
  return `${settings.join('')}NODE_OPTIONS="${imports}" ${command.map((each) => quotedWord(each)).join(' ')}`;
}

/** Matches `node dist/main`, also after `cross-env NODE_ENV=production` or a build. */
const nodeInScript = /(^|\s)node(?=\s+[^&|;\s])/;

/** Shortens a path inside the app's folder to a relative one, which is valid on another machine too. */
function shown(word: string, project: Project | undefined): string {
  if (project === undefined || !word.startsWith('/')) return word;
  const below = relative(project.folder, word);
  return below === '' || below.startsWith('..') ? word : below;
}
