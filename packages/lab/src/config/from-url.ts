import { LabError } from '../errors.ts';
import { parseCommand } from './command-line.ts';
import { type LoadedConfig, loadConfig } from './load-config.ts';
import { type RequestOptions, withRequestOptions } from './request-options.ts';
import { resolveRequest } from './resolve-plan.ts';
import type { VariantConfig } from './types.ts';

/**
 * Loads the target of a command: a config, or `URL -- COMMAND` with one command for each variant, each after its own `--`.
 * @param asked A URL, or a config file or folder.
 * @param options `sideBySide`: several servers run at the same time, each on the PORT it is given; a single one may insist on the
 * port of the URL. `request`: the request options of the command line.
 * @throws {LabError} ERR_REDLINE_OPTION, ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_CONFIG
 */
export async function loadTarget(
  asked: string,
  words: readonly string[],
  { sideBySide = false, request = {} }: { sideBySide?: boolean; request?: RequestOptions } = {},
): Promise<LoadedConfig> {
  if (!isUrl(asked)) {
    if (words.length === 0) {
      const { config, folder } = await loadConfig(asked);
      return { config: withRequestOptions(config, request), folder };
    }
    throw wrong(
      `A command goes with a URL, not with "${asked}": http://127.0.0.1:3000/ -- ${words.join(' ')}`,
    );
  }
  const url = localUrl(asked);
  const commands = between(words);
  if (commands.length === 0) {
    throw wrong(`${asked} needs what starts the app: ${asked} -- node server.js`);
  }
  const variants = named(commands, hostOf(url), sideBySide ? undefined : Number(url.port || 80));
  const requests = [pathOf(url)];
  const name = variants[0]!.name.replaceAll(/[^\w.-]/g, '-');
  const config = withRequestOptions({ name, requests, variants }, request);
  const { method, path } = resolveRequest(config.requests![0]!);
  const names = variants.map((each) => each.name).join(' and ');
  return { config: { ...config, title: `${names}, ${method} ${path}` }, folder: process.cwd() };
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** @throws {LabError} ERR_REDLINE_OPTION for a URL that is not served by a process on this machine, in plain HTTP */
export function localUrl(text: string): URL {
  if (!URL.canParse(text)) throw wrong(`"${text}" is not a URL.`);
  const url = new URL(text);
  if (url.protocol === 'https:') {
    throw wrong(
      `${text} is served over TLS; give the port where the app itself answers plain HTTP.`,
    );
  }
  if (!['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]'].includes(url.hostname)) {
    throw wrong(
      `${url.hostname} is another machine. The app is started here: give a URL at 127.0.0.1.`,
    );
  }
  return url;
}

/** Returns the `HOST` for the environment of an app that must listen on an address other than 127.0.0.1. */
export function hostOf({ hostname }: URL): Record<string, string> {
  return hostname === '[::1]' ? { HOST: '::1' } : {};
}

/** Returns path and query as they were typed: braces of a placeholder are not escaped. */
export function pathOf({ pathname, search }: URL): string {
  return pathname.replaceAll('%7B', '{').replaceAll('%7D', '}') + search;
}

/** Options of node and related programs whose value is the next word. */
const withValue =
  /^(-r|-C|--(require|import|loader|experimental-loader|conditions|tsconfig|env-file))$/;
const launchers = /^(npx|tsx|ts-node|nodemon|npm|pnpm|yarn|bun|deno|run|exec|dlx|x|watch)$/;

/** Shortens `node --import tsx dist/main.js` and `npx tsx dist/main.js` to `main.js`, `npm run start:prod` to `start:prod`. */
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

/** Names the variants by their scripts, or by their whole commands if two have the same script. */
function named(
  commands: readonly string[][],
  host: Record<string, string>,
  port: number | undefined,
): VariantConfig[] {
  const parsed = commands.map((words) => parseCommand(words));
  const short = parsed.map(({ command }) => shortName(command));
  const whole = parsed.map(({ command, env }) =>
    [...Object.entries(env).map(([key, value]) => `${key}=${value}`), ...command].join(' '),
  );
  const names = new Set(short).size === short.length ? short : whole;
  return parsed.map(({ command, env }, index) => {
    const before = names.slice(0, index).filter((name) => name === names[index]).length;
    const name = before === 0 ? names[index]! : `${names[index]} #${before + 1}`;
    const asked = { name, command, env: { ...host, ...env } };
    return { ...asked, ...(parsed.length > 1 || port === undefined ? {} : { port }) };
  });
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
