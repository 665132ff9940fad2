import { existsSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandLine, parseCommand } from '../../config/command-line.ts';
import { SourceMaps } from '../../profile/source-maps.ts';
import { isNode } from '../../profile/instrument.ts';
import { nodeCommandOf } from '../../project/node-command.ts';
import { type Project, scriptOf } from '../../project/read-project.ts';

/** Options of node that take a value. */
const optionsWithValue =
  /^(-r|--require|--import|--loader|--experimental-loader|--env-file|-C|--conditions)$/;
const built = /^(dist|build|lib|out)[\\/]/;

/** Max depth of scripts that run scripts, in case they form a cycle. */
const maxScriptDepth = 5;

/** Returns the command as node receives it, if package.json reveals it; otherwise as typed. */
export function nodeStart(
  typed: CommandLine | undefined,
  project: Project | undefined,
  steps: number = maxScriptDepth,
): CommandLine | undefined {
  const given =
    typed ?? (project?.start === undefined ? undefined : { command: project.start, env: {} });
  if (given === undefined) return undefined;
  const text = nodeCommandOf(given, project);
  if (text !== undefined) return parseCommand(text);
  const script = project && scriptOf(given.command, project);
  const run = script === undefined ? undefined : lastCommand(project!.scripts[script]!);
  if (run === undefined || steps === 0) return given;
  return nodeStart({ ...run, env: { ...given.env, ...run.env } }, project, steps - 1);
}

/**
 * Returns the command that keeps running in `npm run build && node . | pino-pretty`; undefined if it is not a command of plain
 * words.
 */
function lastCommand(script: string): CommandLine | undefined {
  const last = script.split(/&&|;/).at(-1)!;
  try {
    // A digit only belongs to the operator if it is a separate word in front of `<` or `>`.
    return parseCommand(last.split(/(?:(?<=\s)\d)?[<>]|[|&]/, 1)[0]!);
  } catch {
    return undefined;
  }
}

/** Returns the source of the file that a command starts: via its source map if it is compiled. */
export function entryOf(start: CommandLine | undefined, folder: string): string | undefined {
  const file = start && startedFile(start.command, folder);
  if (file === undefined) return undefined;
  const { url } = new SourceMaps().original({ url: file, line: 1, column: 1 });
  const mapped = url.startsWith('file://') ? fileURLToPath(url) : url;
  if (mapped !== file && existsSync(mapped)) return mapped;
  return writtenAs(file, folder) ?? file;
}

function startedFile(words: readonly string[], folder: string): string | undefined {
  const [program = '', ...args] = words;
  const name = basename(program);
  if (name === 'nest') return existing(join(folder, 'src/main'));
  if (!isNode(program) && !/^(tsx|ts-node|nodemon|node-dev)$/.test(name)) return undefined;
  for (let index = 0; index < args.length; index++) {
    const word = args[index]!;
    if (optionsWithValue.test(word)) index++;
    else if (!word.startsWith('-') && word !== 'watch') return existing(resolve(folder, word));
  }
  return undefined;
}

/** Maps `dist/main.js` without a source map to `src/main.ts` if that exists. */
export function writtenAs(file: string, folder: string): string | undefined {
  const below = relative(folder, file);
  if (!built.test(below)) return undefined;
  const stem = below
    .replace(built, '')
    .replace(/^src[\\/]/, '')
    .replace(/\.[mc]?js$/, '');
  return existing(join(folder, 'src', stem)) ?? existing(join(folder, stem));
}

function existing(path: string): string | undefined {
  const endings = ['', '.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '/index.ts', '/index.js'];
  const found = endings.map((ending) => path + ending);
  return found.find((each) => existsSync(each) && statSync(each).isFile());
}
