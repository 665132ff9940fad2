import { LabError } from '../errors.ts';
import { parseCommand } from './command-line.ts';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import type { VariantConfig } from './types.ts';

/**
 * What a command is about: a config, or `URL -- COMMAND` with one command for each variant, each after a `--` of its own.
 * @param asked A URL, or a config file or folder.
 * @param options `sideBySide`: several servers run at the same time, each on the PORT it is given; one alone may insist on
 * that of the URL.
 * @throws {LabError} ERR_REDLINE_OPTION, ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_CONFIG
 */
export async function loadTarget(
  asked: string,
  words: readonly string[],
  { sideBySide = false }: { sideBySide?: boolean } = {},
): Promise<LoadedConfig> {
  if (!isUrl(asked)) {
    if (words.length === 0) return loadConfig(asked);
    throw wrong(
      `A command goes with a URL, not with "${asked}": http://127.0.0.1:3000/ -- ${words.join(' ')}`,
    );
  }
  const url = localUrl(asked);
  const commands = between(words);
  if (commands.length === 0) {
    throw wrong(`${asked} needs what starts the app: ${asked} -- node server.js`);
  }
  const variants = named(commands, sideBySide ? undefined : Number(url.port || 80));
  const [first] = variants;
  return {
    config: {
      name: first!.name.replaceAll(/[^\w.-]/g, '-'),
      title: `${variants.map(({ name }) => name).join(' and ')}, GET ${url.pathname}${url.search}`,
      requests: [url.pathname + url.search],
      variants,
    },
    folder: process.cwd(),
  };
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** @throws {LabError} ERR_REDLINE_OPTION for what is not answered by a process of this machine, in plain HTTP */
export function localUrl(text: string): URL {
  if (!URL.canParse(text)) throw wrong(`"${text}" is not a URL.`);
  const url = new URL(text);
  if (url.protocol === 'https:') {
    throw wrong(
      `${text} is served over TLS; give the port where the app itself answers plain HTTP.`,
    );
  }
  if (!['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)) {
    throw wrong(
      `${url.hostname} is another machine. The app is started here: give a URL at 127.0.0.1.`,
    );
  }
  return url;
}

/** Options of node and its relatives whose value is the next word. */
const withValue =
  /^(-r|-C|--(require|import|loader|experimental-loader|conditions|tsconfig|env-file))$/;
const launchers = /^(npx|tsx|ts-node|nodemon|npm|pnpm|yarn|bun|deno|run|exec|dlx|x|watch)$/;

/** `node --import tsx dist/main.js` and `npx tsx dist/main.js` are `main.js`; `npm run start:prod` is `start:prod`. */
export function shortName(command: readonly string[]): string {
  const [program, ...words] = command;
  const bare = words.filter(
    (word, index) => !word.startsWith('-') && !withValue.test(words[index - 1] ?? ''),
  );
  const script = bare.find((word) => !launchers.test(word)) ?? bare[0] ?? program!;
  return script.split(/[\\/]/).at(-1)!;
}

function between(words: readonly string[]): string[][] {
  const commands: string[][] = [[]];
  for (const word of words) {
    if (word === '--') commands.push([]);
    else commands.at(-1)!.push(word);
  }
  return commands.filter(({ length }) => length > 0);
}

/** By their scripts; where two have one, by all that differs. */
function named(commands: readonly string[][], port: number | undefined): VariantConfig[] {
  const parsed = commands.map((words) => parseCommand(words));
  const short = parsed.map(({ command }) => shortName(command));
  const whole = parsed.map(({ command, env }) =>
    [...Object.entries(env).map(([key, value]) => `${key}=${value}`), ...command].join(' '),
  );
  const names = new Set(short).size === short.length ? short : whole;
  return parsed.map(({ command, env }, index) => {
    const before = names.slice(0, index).filter((name) => name === names[index]).length;
    const name = before === 0 ? names[index]! : `${names[index]} #${before + 1}`;
    return { name, command, env, ...(parsed.length > 1 || port === undefined ? {} : { port }) };
  });
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
