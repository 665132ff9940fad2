import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { CommandLine } from '../config/command-line.ts';

/** A program that hands an app over to another process: a daemon, a container, a system service. */
export interface Launch {
  /** e.g. `pm2` */
  launcher: string;
  /** Arguments of the launcher. */
  words: string[];
  /** Environment settings in front of the launcher. */
  env: Record<string, string>;
  /** False if the same text runs other commands before or after it. */
  isAlone: boolean;
  /** The last of these commands that is not a launcher. */
  rest: string | undefined;
  cwd: string;
}

/** Launchers, each with the subcommands that only inspect or build; all others start, restart or stop something. */
const launchers: Readonly<Record<string, RegExp | undefined>> = {
  pm2: /^(ls?|list|jlist|prettylist|logs?|describe|info|show|env|monit|dash(board)?|--version|-v|ping|ecosystem|init)$/,
  'pm2-dev': undefined,
  'pm2-runtime': undefined,
  'pm2-docker': undefined,
  forever: /^(list|logs?|config|columns|--version)$/,
  docker: /^(build|pull|push|images|ps|info|version|inspect|logs|login|tag|cp)$/,
  'docker-compose': /^(build|pull|push|config|ps|logs|version|images)$/,
  podman: /^(build|pull|push|images|ps|info|version|inspect|logs|login|tag|cp)$/,
  'podman-compose': /^(build|pull|push|config|ps|logs|version|images)$/,
  nerdctl: /^(build|pull|push|images|ps|info|version|inspect|logs)$/,
  systemctl: /^(status|show|cat|is-active|list-units)$/,
  'systemd-run': undefined,
  service: undefined,
  supervisorctl: /^(status|tail|avail|version|pid)$/,
  supervisord: undefined,
  launchctl: /^(list|print)$/,
  kubectl: /^(get|describe|logs|version|config|explain|diff)$/,
  helm: /^(list|get|status|template|lint|version|show)$/,
  heroku: /^(?!local$)/,
  foreman: /^(check|version|help)$/,
  nf: /^(?!start$)/,
  honcho: /^(check|version|help)$/,
  overmind: /^(ps|status|connect|echo)$/,
  hivemind: undefined,
  naught: /^(version|help)$/,
  'start-stop-daemon': undefined,
  screen: undefined,
  tmux: undefined,
};

/** Programs that run the command given in their arguments. */
const wrappers =
  /^(cross-env|cross-env-shell|env|sudo|exec|nohup|time|command|setsid|npx|pnpx|bunx|dotenv|dotenvx|dotenv-cli|doppler|infisical|op|taskset|nice)$/;
const managers = /^(npm|pnpm|yarn|bun)$/;
const shells = /^(sh|bash|dash|zsh|ash|ksh)$/;
const runners = /^(concurrently|npm-run-all|run-s|run-p|npm-run-all2)$/;
const assignment = /^([A-Za-z_]\w*)=(.*)$/s;
/** Max depth, for a script that calls itself through other scripts. */
const maxSteps = 12;

/** Finds the launcher that a command runs, also through scripts of package.json and shell scripts; undefined if it runs none. */
export function launchOf({ command, env }: CommandLine, cwd: string): Launch | undefined {
  return launchInWords([...command], { env, cwd, steps: 0 });
}

interface Place {
  env: Record<string, string>;
  cwd: string;
  steps: number;
}

function launchInWords(words: string[], place: Place): Launch | undefined {
  if (place.steps > maxSteps) return undefined;
  const deeper = { ...place, steps: place.steps + 1 };
  const first = words.findIndex((word) => !assignment.test(word));
  if (first < 0) return undefined;
  const env = { ...place.env };
  for (const word of words.slice(0, first)) {
    const [, name, value] = assignment.exec(word)!;
    env[name!] = value!;
  }
  const [program, ...rest] = words.slice(first) as [string, ...string[]];
  const name = basename(program).replace(/\.(cmd|exe|[cm]?js)$/, '');
  const inside = { ...deeper, env };
  if (Object.hasOwn(launchers, name)) {
    const subcommand = rest.find((word) => !word.startsWith('-')) ?? rest[0] ?? '';
    // Without arguments, a launcher only prints its usage.
    if (launchers[name]?.test(subcommand) === true || rest.length === 0) return undefined;
    return { launcher: name, words: rest, env, isAlone: true, rest: undefined, cwd: place.cwd };
  }
  if (name === 'node' || name === 'nodejs') {
    const at = rest.findIndex((word) => !word.startsWith('-'));
    const file = rest[at];
    if (file === undefined || !Object.hasOwn(launchers, basename(file).replace(/\.[cm]?js$/, ''))) {
      return undefined;
    }
    return launchInWords(rest.slice(at), inside);
  }
  if (wrappers.test(name)) return launchInWords(afterOptions(rest), inside);
  if (managers.test(name)) return launchInPackageScript(rest, inside);
  if (shells.test(name)) return launchInShell(rest, inside);
  if (runners.test(name)) return launchInRunner(name, rest, inside);
  return program.includes('/') ? launchInFile(resolve(place.cwd, program), inside) : undefined;
}

/** Skips options such as `-e .env --`: words that start with a dash and, if `--` ends the options, everything before it. */
function afterOptions(words: string[]): string[] {
  const dashes = words.indexOf('--');
  const plain = words.findIndex((word) => !word.startsWith('-'));
  if (dashes >= 0 && (plain < 0 || words[0]!.startsWith('-'))) return words.slice(dashes + 1);
  return plain < 0 ? [] : words.slice(plain);
}

function launchInPackageScript(words: string[], place: Place): Launch | undefined {
  const plain = afterFolder(words, place.cwd);
  const [verb, ...rest] = plain.words;
  const inside = { ...place, cwd: plain.cwd };
  if (verb === undefined) return undefined;
  if (/^(exec|x|dlx)$/.test(verb)) return launchInWords(afterOptions(rest), inside);
  const name = /^run(-script)?$/.test(verb) ? rest.find((word) => !word.startsWith('-')) : verb;
  const scripts = scriptsOf(inside.cwd);
  if (name === undefined) return undefined;
  const texts = [`pre${name}`, name, `post${name}`].flatMap((each) =>
    Object.hasOwn(scripts, each) ? [scripts[each]!] : [],
  );
  if (texts.length === 0) return launchInWords([name, ...rest], inside);
  return launchInScripts(texts, inside);
}

/** Follows `--prefix api`, `-C api` and `--cwd api` to the folder of the scripts. */
function afterFolder(words: string[], cwd: string): { words: string[]; cwd: string } {
  const folder = /^(--prefix|-C|--dir|--cwd|-w|--workspace|-F|--filter)$/;
  const at = words.findIndex((word) => folder.test(word));
  const named = words[at + 1];
  if (at >= 0 && named !== undefined) {
    const others = words.filter((_, index) => index !== at && index !== at + 1);
    const places = [named, `packages/${named}`, `apps/${named}`].map((each) => resolve(cwd, each));
    return { words: afterOptions(others), cwd: places.find((each) => existsSync(each)) ?? cwd };
  }
  return { words: afterOptions(words), cwd };
}

function launchInShell(words: string[], place: Place): Launch | undefined {
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  if (at >= 0) return launchInScripts([words[at + 1] ?? ''], place);
  const file = words.find((word) => !word.startsWith('-'));
  return file === undefined ? undefined : launchInFile(resolve(place.cwd, file), place);
}

/** Reads `concurrently "npm:web" "pm2 start x"` and `run-p web worker`. */
function launchInRunner(name: string, words: string[], place: Place): Launch | undefined {
  const scripts = scriptsOf(place.cwd);
  const texts = words
    .filter((word) => !word.startsWith('-'))
    .map((word) => word.replace(/^npm:/, ''))
    .map((word) => (Object.hasOwn(scripts, word) ? `npm run ${word}` : word));
  return name === 'concurrently' || texts.length > 0 ? launchInScripts(texts, place) : undefined;
}

/** Shell scripts are short, and are recognised by their first line. */
const maxScriptBytes = 64_000;

function launchInFile(file: string, place: Place): Launch | undefined {
  if (!existsSync(file)) return undefined;
  const text = readText(file);
  const isScript = /^#!.*\b(sh|bash|dash|zsh|ash|ksh)\b/.test(text) || file.endsWith('.sh');
  return isScript && text.length < maxScriptBytes ? launchInScripts([text], place) : undefined;
}

function launchInScripts(texts: string[], place: Place): Launch | undefined {
  const commands = texts.flatMap(commandsOf);
  let { cwd } = place;
  let found: Launch | undefined;
  let last: string | undefined;
  for (const command of commands) {
    const words = wordsOf(command);
    if (words[0] === 'cd' && words[1] !== undefined) {
      cwd = resolve(cwd, words[1]);
      continue;
    }
    const launch = launchInWords(words, { ...place, cwd });
    if (launch === undefined) last = command;
    else if (found === undefined) {
      found = launch;
      last = undefined;
    }
  }
  if (found === undefined) return undefined;
  return { ...found, isAlone: found.isAlone && commands.length === 1, rest: last ?? found.rest };
}

/** Splits a text into the commands that a shell runs one after the other; operators inside quotes and comments do not split. */
function commandsOf(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote !== '') {
      if (letter === quote) quote = '';
      part += letter;
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      part += letter;
    } else if (letter === '#' && /^\s*$/.test(part)) {
      while (at + 1 < text.length && text[at + 1] !== '\n') at++;
    } else if (letter === '\\' && text[at + 1] === '\n') {
      at++;
    } else if (/[|&;\n()]/.test(letter) && !/[<>]$/.test(part)) {
      parts.push(part);
      part = '';
    } else {
      part += letter;
    }
  }
  return [...parts, part].map((each) => each.trim()).filter((each) => each !== '');
}

/** Splits a command without operators into words; a quoted part belongs to one word. */
export function wordsOf(command: string): string[] {
  const words = command.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

function scriptsOf(folder: string): Record<string, string> {
  for (let at = folder; ; at = dirname(at)) {
    const text = readText(join(at, 'package.json'));
    if (text !== '') {
      try {
        return (JSON.parse(text) as { scripts?: Record<string, string> }).scripts ?? {};
      } catch {
        return {};
      }
    }
    if (dirname(at) === at) return {};
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
