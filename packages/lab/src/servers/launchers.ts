import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { CommandLine } from '../config/command-line.ts';

/** A program that hands an app to something else: a daemon, a container, a service of the system. */
export interface Launch {
  /** e.g. `pm2` */
  launcher: string;
  /** Its own words, after its name. */
  words: string[];
  /** Settings before it. */
  env: Record<string, string>;
  /** Commands that one text has before and after it. */
  isAlone: boolean;
  /** The last of these commands, where it is not a launcher. */
  rest: string | undefined;
  cwd: string;
}

/** Each with the first words that only look or build; everything else starts, restarts or stops something. */
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

/** Programs that run the words after them. */
const wrappers =
  /^(cross-env|cross-env-shell|env|sudo|exec|nohup|time|command|setsid|npx|pnpx|bunx|dotenv|dotenvx|dotenv-cli|doppler|infisical|op|taskset|nice)$/;
const managers = /^(npm|pnpm|yarn|bun)$/;
const shells = /^(sh|bash|dash|zsh|ash|ksh)$/;
const runsSeveral = /^(concurrently|npm-run-all|run-s|run-p|npm-run-all2)$/;
const assignment = /^([A-Za-z_]\w*)=(.*)$/s;
/** A script that calls itself, by however many steps. */
const mostSteps = 12;

/** The launcher that a command runs, also through scripts of package.json and of a shell; undefined where it runs none. */
export function launchOf({ command, env }: CommandLine, cwd: string): Launch | undefined {
  return inWords([...command], { env, cwd, steps: 0 });
}

interface Place {
  env: Record<string, string>;
  cwd: string;
  steps: number;
}

function inWords(words: string[], place: Place): Launch | undefined {
  if (place.steps > mostSteps) return undefined;
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
    // Without words it says how it is used.
    if (launchers[name]?.test(subcommand) === true || rest.length === 0) return undefined;
    return { launcher: name, words: rest, env, isAlone: true, rest: undefined, cwd: place.cwd };
  }
  if (name === 'node' || name === 'nodejs') {
    const at = rest.findIndex((word) => !word.startsWith('-'));
    const file = rest[at];
    if (file === undefined || !Object.hasOwn(launchers, basename(file).replace(/\.[cm]?js$/, ''))) {
      return undefined;
    }
    return inWords(rest.slice(at), inside);
  }
  if (wrappers.test(name)) return inWords(afterOptions(rest), inside);
  if (managers.test(name)) return inManager(rest, inside);
  if (shells.test(name)) return inShell(rest, inside);
  if (runsSeveral.test(name)) return inSeveral(name, rest, inside);
  return program.includes('/') ? inFile(resolve(place.cwd, program), inside) : undefined;
}

/** `-e .env --`: what begins with a dash, and, where a second dash ends the options, everything before that. */
function afterOptions(words: string[]): string[] {
  const dashes = words.indexOf('--');
  const plain = words.findIndex((word) => !word.startsWith('-'));
  if (dashes >= 0 && (plain < 0 || words[0]!.startsWith('-'))) return words.slice(dashes + 1);
  return plain < 0 ? [] : words.slice(plain);
}

function inManager(words: string[], place: Place): Launch | undefined {
  const plain = afterFolder(words, place.cwd);
  const [verb, ...rest] = plain.words;
  const inside = { ...place, cwd: plain.cwd };
  if (verb === undefined) return undefined;
  if (/^(exec|x|dlx)$/.test(verb)) return inWords(afterOptions(rest), inside);
  const name = /^run(-script)?$/.test(verb) ? rest.find((word) => !word.startsWith('-')) : verb;
  const scripts = scriptsOf(inside.cwd);
  if (name === undefined) return undefined;
  const texts = [`pre${name}`, name, `post${name}`].flatMap((each) =>
    Object.hasOwn(scripts, each) ? [scripts[each]!] : [],
  );
  if (texts.length === 0) return inWords([name, ...rest], inside);
  return inTexts(texts, inside);
}

/** `--prefix api`, `-C api`, `--cwd api`: where the scripts are. */
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

function inShell(words: string[], place: Place): Launch | undefined {
  const at = words.findIndex((word) => /^-\w*c$/.test(word));
  if (at >= 0) return inTexts([words[at + 1] ?? ''], place);
  const file = words.find((word) => !word.startsWith('-'));
  return file === undefined ? undefined : inFile(resolve(place.cwd, file), place);
}

/** `concurrently "npm:web" "pm2 start x"`; `run-p web worker`. */
function inSeveral(name: string, words: string[], place: Place): Launch | undefined {
  const scripts = scriptsOf(place.cwd);
  const texts = words
    .filter((word) => !word.startsWith('-'))
    .map((word) => word.replace(/^npm:/, ''))
    .map((word) => (Object.hasOwn(scripts, word) ? `npm run ${word}` : word));
  return name === 'concurrently' || texts.length > 0 ? inTexts(texts, place) : undefined;
}

/** A script of a shell is short, and its first line says what it is. */
const mostScriptBytes = 64_000;

function inFile(file: string, place: Place): Launch | undefined {
  if (!existsSync(file)) return undefined;
  const text = readText(file);
  const isScript = /^#!.*\b(sh|bash|dash|zsh|ash|ksh)\b/.test(text) || file.endsWith('.sh');
  return isScript && text.length < mostScriptBytes ? inTexts([text], place) : undefined;
}

function inTexts(texts: string[], place: Place): Launch | undefined {
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
    const launch = inWords(words, { ...place, cwd });
    if (launch === undefined) last = command;
    else if (found === undefined) {
      found = launch;
      last = undefined;
    }
  }
  if (found === undefined) return undefined;
  return { ...found, isAlone: found.isAlone && commands.length === 1, rest: last ?? found.rest };
}

/** What a shell runs one after the other; quotes and comments keep their operators. */
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

/** Words of a command without operators; what a quote joins is one. */
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
