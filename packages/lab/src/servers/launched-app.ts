import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type CommandLine, commandText, parseCommand } from '../config/command-line.ts';
import { LabError } from '../errors.ts';
import { type Launch, launchOf, wordsOf } from './launchers.ts';

/** The command to start in place of a launcher. */
export interface LaunchedApp {
  line: CommandLine;
  cwd: string;
  /** Source of the command, in one sentence. */
  note: string;
}

/** The fields of an app in PM2's ecosystem file that determine its command. */
interface Pm2App {
  name?: string;
  script?: string;
  args?: string | string[];
  node_args?: string | string[];
  interpreter_args?: string | string[];
  interpreter?: string;
  exec_interpreter?: string;
  cwd?: string;
  env?: Record<string, unknown>;
  [env: `env_${string}`]: Record<string, unknown> | undefined;
}

const nextStep = 'Give the program itself';

/**
 * Finds the program that a launcher would start, with its environment; undefined if the command starts the app itself.
 * @throws {LabError} ERR_REDLINE_LAUNCHER if the program cannot be determined
 */
export function launchedApp(typed: CommandLine, cwd: string): LaunchedApp | undefined {
  const launch = launchOf(typed, cwd);
  if (launch === undefined) return undefined;
  const found = launch.isAlone ? programOf(launch) : undefined;
  if (found === undefined) throw refusal(typed, launch);
  const { line, folder, file } = found;
  const note = `${launch.launcher} would hand the app to something else; the program of ${file} is started instead: ${commandText(line)}.`;
  // A launcher may start another launcher.
  return launchedApp(line, folder) ?? { line, cwd: folder, note };
}

/**
 * Refuses to start a launcher as a server: no command may reach an app that is already running.
 * @throws {LabError} ERR_REDLINE_LAUNCHER with the command to type instead
 */
export function refuseLauncher(typed: CommandLine, cwd: string): void {
  const launch = launchOf(typed, cwd);
  if (launch === undefined) return;
  const found = launch.isAlone ? programOf(launch) : undefined;
  throw refusal(typed, launch, found?.line);
}

function refusal({ command }: CommandLine, launch: Launch, line?: CommandLine): LabError {
  const { launcher, rest, words } = launch;
  const said = [launcher, ...words.slice(0, 2)].join(' ');
  const what =
    line !== undefined
      ? `: -- ${commandText(line)}`
      : rest === undefined
        ? ', as it is written there: -- node FILE'
        : ` alone: -- ${rest}`;
  const services = rest === undefined ? '' : ` What has to run before belongs in --before.`;
  return new LabError(
    'ERR_REDLINE_LAUNCHER',
    `"${command.join(' ')}" runs ${said}, which hands the app to something else that may be running it already; nothing was started. ${nextStep}${what}.${services}`,
  );
}

interface Program {
  line: CommandLine;
  folder: string;
  /** File that names the program, or the command itself. */
  file: string;
}

function programOf(launch: Launch): Program | undefined {
  switch (launch.launcher) {
    case 'pm2':
    case 'pm2-runtime':
    case 'pm2-dev':
    case 'pm2-docker':
      return pm2Program(launch);
    case 'forever':
      return foreverProgram(launch);
    case 'foreman':
    case 'nf':
    case 'honcho':
    case 'heroku':
    case 'overmind':
    case 'hivemind':
      return procfileProgram(launch);
    default:
      return undefined;
  }
}

/** Options of `pm2 start` that take a value. */
const pm2Values =
  /^(-n|--name|-i|--instances|-o|--output|-e|--error|-l|--log|-u|--user|--uid|--gid|--namespace|--interpreter|--node-args|--interpreter-args|--cwd|--env|--only|--max-memory-restart|--cron|--cron-restart|-c|--restart-delay|--exp-backoff-restart-delay|-x|--ignore-watch|--filter-env|--max-restarts|--kill-timeout|--listen-timeout|-p|--pid|--log-type|--log-date-format|--hp|--watch-delay|--stop-exit-codes|--parallel|--shutdown-with-message|--source-map-support)$/;

function pm2Program({ launcher, words, env, cwd }: Launch): Program | undefined {
  const { plain, values, after } = split(words, pm2Values);
  const starts = /^(start|restart|reload|startOrRestart|startOrReload|startOrGracefulReload)$/;
  const [first, second] = plain;
  const target = starts.test(first ?? '') ? second : launcher === 'pm2' ? undefined : first;
  const more = plain.slice(plain.indexOf(target ?? '') + 1);
  if (target === undefined) return undefined;
  const file = resolve(cwd, target);
  if (
    /\.(json5?|config\.[cm]?js)$|^(ecosystem|process|pm2)[\w.-]*\.[cm]?js$/.test(basename(target))
  ) {
    const apps = existsSync(file) ? appsOf(file, cwd) : [];
    const only = values.get('--only')?.split(',');
    const chosen = only === undefined ? apps : apps.filter(({ name }) => only.includes(name ?? ''));
    // With several apps, the user has to choose one.
    if (chosen.length !== 1) return undefined;
    const program = ecosystemProgram(chosen[0]!, values.get('--env'), cwd);
    return program && { ...program, line: withEnv(program.line, env), file: target };
  }
  const quoted = wordsOf(target);
  if (quoted.length > 1) return programOfCommand({ command: quoted, env }, cwd);
  if (more.length > 0 || after.length > 0) more.push(...after);
  if (!existsSync(file)) {
    const isProgram = /^(npm|pnpm|yarn|bun|node|npx|tsx)$/.test(target);
    return isProgram ? programOfCommand({ command: [target, ...more], env }, cwd) : undefined;
  }
  const interpreter = values.get('--interpreter') ?? interpreterOf(target);
  const flags = wordsOf(values.get('--node-args') ?? values.get('--interpreter-args') ?? '');
  if (interpreter === undefined) return undefined;
  const command = interpreter === 'none' ? [file] : [interpreter, ...flags, target];
  return programOfCommand(
    { command: [...command, ...more], env },
    resolve(cwd, values.get('--cwd') ?? '.'),
  );
}

function programOfCommand(line: CommandLine, folder: string): Program {
  return { line, folder, file: 'that command' };
}

function withEnv({ command, env }: CommandLine, outer: Record<string, string>): CommandLine {
  return { command, env: { ...outer, ...env } };
}

function interpreterOf(file: string): string | undefined {
  return /\.[cm]?[jt]s$/.test(file) || !basename(file).includes('.') ? 'node' : undefined;
}

function ecosystemProgram(
  app: Pm2App,
  named: string | undefined,
  cwd: string,
): Program | undefined {
  const folder = resolve(cwd, app.cwd ?? '.');
  const { script } = app;
  if (script === undefined) return undefined;
  const settings = { ...app.env, ...(named === undefined ? {} : app[`env_${named}`]) };
  const env = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, String(value)]),
  );
  const args = listOf(app.args);
  const [program, ...inScript] = wordsOf(script);
  const isFile = existsSync(resolve(folder, script));
  const interpreter = app.interpreter ?? app.exec_interpreter ?? interpreterOf(script);
  if (!isFile || interpreter === 'none') {
    const command = [isFile ? resolve(folder, script) : program!, ...(isFile ? [] : inScript)];
    return { line: { command: [...command, ...args], env }, folder, file: '' };
  }
  if (interpreter === undefined) return undefined;
  const flags = [...listOf(app.node_args), ...listOf(app.interpreter_args)];
  return { line: { command: [interpreter, ...flags, script, ...args], env }, folder, file: '' };
}

function listOf(given: string | string[] | undefined): string[] {
  return typeof given === 'string' ? wordsOf(given) : (given ?? []).map(String);
}

const readMs = 10_000;

/** Reads an ecosystem file. It is a program, so it runs in its own process, as PM2 would run it in its command. */
function appsOf(file: string, cwd: string): Pm2App[] {
  try {
    const program = `const f = process.argv[1]; import(require('url').pathToFileURL(f).href, /json$/.test(f) ? { with: { type: 'json' } } : {}).then((m) => process.stdout.write(JSON.stringify(m.default ?? m)))`;
    const text = execFileSync(process.execPath, ['-e', program, file], {
      cwd,
      timeout: readMs,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const read = JSON.parse(text) as { apps?: Pm2App[] | Pm2App } | Pm2App[] | Pm2App;
    return [Array.isArray(read) ? read : 'apps' in read ? (read.apps as Pm2App[]) : read].flat();
  } catch {
    return [];
  }
}

const foreverValues =
  /^(-m|--max|-l|--logFile|-o|--outFile|-e|--errFile|-p|--path|-c|--command|-a|--append|--pidFile|--uid|--id|--sourceDir|--workingDir|--minUptime|--spinSleepTime|--killSignal|-w|--watchDirectory)$/;

function foreverProgram({ words, env, cwd }: Launch): Program | undefined {
  // The words after the script are the script's own.
  const at = words.findIndex((word) => /\.[cm]?js$/.test(word));
  if (at < 0) return undefined;
  const { plain, values } = split(words.slice(0, at), foreverValues);
  if (!/^(start|restart)?$/.test(plain[0] ?? '')) return undefined;
  const program = wordsOf(values.get('-c') ?? values.get('--command') ?? 'node');
  const folder = resolve(cwd, values.get('--workingDir') ?? values.get('--sourceDir') ?? '.');
  return programOfCommand({ command: [...program, ...words.slice(at)], env }, folder);
}

/** Returns the web process, or the only one, with the variables of the `.env` next to it. */
function procfileProgram({ launcher, words, env, cwd }: Launch): Program | undefined {
  const values = /^(-f|--procfile|-e|--env|-p|--port|-c|--formation|-m|-d|--root)$/;
  const given = split(words, values);
  const name = given.values.get('-f') ?? given.values.get('--procfile') ?? 'Procfile';
  const file = resolve(cwd, name);
  if (!existsSync(file)) return undefined;
  const lines = [...readFileSync(file, 'utf8').matchAll(/^([\w-]+):[ \t]*(.+)$/gm)];
  const named = given.plain[launcher === 'hivemind' ? 0 : 1];
  const wanted = named ?? (lines.length === 1 ? lines[0]![1] : 'web');
  const text = lines.find(([, process]) => process === wanted)?.[2]?.trim();
  if (text === undefined) return undefined;
  const settings = { ...dotEnv(resolve(cwd, '.env')), ...env };
  const line = /[$|&;<>`()]/.test(text)
    ? { command: ['sh', '-c', `exec ${text}`], env: {} }
    : parseCommand(text);
  return {
    line: { command: line.command, env: { ...settings, ...line.env } },
    folder: cwd,
    file: name,
  };
}

/** Returns names and values, parsed as foreman does. */
export function dotEnv(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const lines = readFileSync(file, 'utf8').matchAll(
    /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(.*?)[ \t]*$/gm,
  );
  return Object.fromEntries(
    [...lines].map(([, name, value]) => [name!, value!.replace(/^(["'])(.*)\1$/, '$2')]),
  );
}

function split(
  words: readonly string[],
  takesValue: RegExp,
): { plain: string[]; values: Map<string, string>; after: string[] } {
  const plain: string[] = [];
  const values = new Map<string, string>();
  const dashes = words.indexOf('--');
  const own = dashes < 0 ? words : words.slice(0, dashes);
  for (let at = 0; at < own.length; at++) {
    const word = own[at]!;
    const [, name, value] = /^(--[\w-]+)=(.*)$/.exec(word) ?? [];
    if (name !== undefined) values.set(name, value!);
    else if (takesValue.test(word)) values.set(word, own[++at] ?? '');
    else if (!word.startsWith('-')) plain.push(word);
  }
  return { plain, values, after: dashes < 0 ? [] : words.slice(dashes + 1) };
}
