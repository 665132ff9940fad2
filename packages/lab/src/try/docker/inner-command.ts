import type { Command, Option } from 'commander';
import { accessSync, constants } from 'node:fs';
import { basename, posix, resolve, sep } from 'node:path';
import { splitAtDashes } from '../../command/target-options.ts';
import { quotedWord } from '../../config/command-line.ts';
import { LabError } from '../../errors.ts';
import type { AppFolder } from './app-folder.ts';

/** The command line inside of the container. */
export interface InnerCommand {
  /** The shell script that runs it, from the folder of the trial. */
  script: string;
  /** Files that it reads, by their names in that folder. */
  files: Map<string, string>;
}

/** File of the figures, in the folder of the trial. */
export const resultFile = 'result.json';
/** Exit code of the script where the app's folder is not in the container; redline itself has no such code. */
export const noFolderCode = 96;

/** Options that are carried out here: what the container is, and where the reports go. */
const own = new Set(['docker', 'image', 'env', 'envFile', 'cwd', 'json', 'html', 'md', 'out']);
const files = new Set(['log', 'har', 'replay']);

/**
 * Translates the command line for the container, option by option from what was parsed, so that none is lost.
 * @param asks True if a person can answer its question.
 * @throws {LabError} ERR_REDLINE_OPTION if a file does not exist
 */
export function innerCommand(command: Command, app: AppFolder, asks: boolean): InnerCommand {
  const cwd = posix.join('app', app.below);
  const copied = new Map<string, string>();
  const options = command.options.flatMap((option) => {
    const name = option.attributeName();
    if (own.has(name) || command.getOptionValueSource(name) !== 'cli') return [];
    const value: unknown = command.getOptionValue(name);
    if (!files.has(name)) return wordsOf(option, value);
    const file = resolve(String(value));
    requireReadable(file, `${option.long} "${String(value)}"`);
    // Reports name it without its folder.
    const inside = posix.join('files', name, basename(file));
    copied.set(inside, file);
    return wordsOf(option, posix.relative(cwd, inside));
  });
  const { before, after } = splitAtDashes(command.args);
  const words = [
    'try',
    ...options,
    ...(asks ? ['--asks-by-pipe'] : []),
    `--json=${posix.relative(cwd, resultFile)}`,
    `--html=${posix.relative(cwd, 'result.html')}`,
    ...before,
    ...(after === undefined ? [] : ['--', ...after.map((word) => inFolder(word, app))]),
  ];
  return {
    script: `cd ${quotedWord(cwd)} || exit ${noFolderCode}
exec redline ${words.map(quotedWord).join(' ')} >/dev/null
`,
    files: copied,
  };
}

function requireReadable(file: string, asked: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read: ${message}`;
    throw new LabError('ERR_REDLINE_OPTION', `${asked} ${why}.`, { cause });
  }
}

function wordsOf({ long }: Option, value: unknown): string[] {
  if (value === true) return [long!];
  return [value].flat().map((each) => `${long}=${String(each)}`);
}

/** Turns paths into the app's folder, such as those that a shell has completed, into relative ones. */
function inFolder(word: string, { root, below }: AppFolder): string {
  const up = posix.relative(posix.join('/', below), '/');
  // Another path may have the root's name within it.
  const begins = (at: number): boolean => at === 0 || '=:'.includes(word[at - 1]!);
  return word.replaceAll(`${root}${sep}`, (path, at: number) =>
    begins(at) ? `${up === '' ? '.' : up}/` : path,
  );
}
