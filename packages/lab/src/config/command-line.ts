import { LabError } from '../errors.ts';

/** The command that starts a server, without a shell. */
export interface CommandLine {
  command: string[];
  /** `FOO=1` before the program. */
  env: Record<string, string>;
}

const assignment = /^([A-Za-z_]\w*)=(.*)$/s;

/**
 * Parses a command from a config or a shell: a text is split as a shell would split it, with quotes and backslashes; words are
 * taken as they are, but a single word that contains blanks was a quoted command.
 * @throws {LabError} ERR_REDLINE_OPTION
 */
export function parseCommand(given: string | readonly string[]): CommandLine {
  const [only, ...others] = typeof given === 'string' ? [given] : given;
  const isText = typeof given === 'string' || (others.length === 0 && /\s/.test(only ?? ''));
  const written = isText ? split(only ?? '') : [...given];
  // `env NAME=x npm start` is `NAME=x npm start`; with options of its own, env is a program like any other.
  const isEnv = written[0] === 'env' && assignment.test(written[1] ?? '');
  const words = isEnv ? written.slice(1) : written;
  const first = words.findIndex((word) => !assignment.test(word));
  if (first < 0) throw wrong(`"${words.join(' ')}" names no program to start.`);
  const env = words.slice(0, first).map((word) => assignment.exec(word)!.slice(1, 3));
  return { command: words.slice(first), env: Object.fromEntries(env) as Record<string, string> };
}

/** Formats the command for a shell, settings included. */
export function commandText({ command, env }: CommandLine): string {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quotedWord(value)}`);
  return [...settings, ...command.map(quotedWord)].join(' ');
}

/** Quotes a word for a shell. */
export function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function split(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote !== '') {
      if (letter === quote) quote = '';
      else if (letter === '\\' && quote === '"' && /["\\]/.test(text[at + 1] ?? ''))
        word += text[++at]!;
      else word += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      word ??= '';
    } else if (letter === '\\' && at + 1 < text.length) {
      word = (word ?? '') + text[++at]!;
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>`]/.test(letter)) {
      throw wrong(`${letter} in "${text}" needs a shell, and none is started: write sh -c '…'.`);
    } else {
      word = (word ?? '') + letter;
    }
  }
  if (quote !== '') throw wrong(`${quote} in "${text}" is not closed.`);
  return word === undefined ? words : [...words, word];
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
