import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { chooseVariant } from '../command/choose-variant.ts';
import { splitAtDashes } from '../command/target-options.ts';
import { type CommandLine, parseCommand } from '../config/command-line.ts';
import { hostOf, isUrl, localUrl, pathOf, shortName } from '../config/from-url.ts';
import { type RequestOptions, withRequestOptions } from '../config/request-options.ts';
import { type Plan, type PlannedVariant, resolvePlans } from '../config/resolve-plan.ts';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { plural } from '../report/format.ts';
import { launchedApp } from '../servers/launched-app.ts';
import { parseLogin } from '../servers/sign-in.ts';
import { type Recording, readHar, recordingOf } from './har.ts';
import { type Project, readProject } from '../project/read-project.ts';

/** An app, and the facts about its requests before it is started. */
export interface TryTarget {
  /** Plan without variants and precision. */
  plan: Plan;
  app: PlannedVariant;
  /** Command as typed, for display. */
  typed: CommandLine;
  project: Project | undefined;
  /** True if the user named the requests of the plan. */
  hasRequests: boolean;
  /** Port of a URL. */
  port: number | undefined;
  /** Reason why a program other than the typed one is started. */
  launched: string | undefined;
  /** True if the requests were recorded; some of them may fail by now. */
  isRecorded: boolean;
  /** Recorded requests that are not sent because they may change data. */
  leftOut: string[];
  /** Time for which the user's requests are forwarded and recorded, and the requests allowed although they may change data. */
  record: { ms: number; allowed: string[] } | undefined;
}

export interface TargetOptions extends RequestOptions {
  variant?: string;
  cwd?: string;
  login?: string;
  har?: string;
  record?: string | true;
  allow?: string[];
}

/**
 * Parses `[URL or /path …] -- COMMAND`, a config, or nothing: then it takes the config of the folder, or the start script of its
 * package.json.
 * @throws {LabError} ERR_REDLINE_OPTION, ERR_REDLINE_CONFIG, ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_LAUNCHER
 * @param asked The command that was typed, for messages.
 */
export async function resolveTarget(
  words: readonly string[],
  options: TargetOptions,
  asked = 'try',
): Promise<TryTarget> {
  const { before, after } = splitAtDashes(words);
  const folder = resolve(options.cwd ?? '.');
  if (!existsSync(folder)) throw wrongOption(`--cwd "${options.cwd}" does not exist.`);
  const project = readProject(folder);
  const areRequests = before.every((word) => isUrl(word) || word.startsWith('/'));
  if (after === undefined && before.length > 0 && !before.every(isUrl)) {
    return fromConfig(before, folder, options, asked);
  }
  if (!areRequests) {
    const wrong = before.find((word) => !isUrl(word) && !word.startsWith('/'));
    throw wrongOption(
      `"${wrong}" is neither a URL nor a path such as /feed; what starts the app comes after --: redline ${asked} -- ${[wrong, ...(after ?? [])].join(' ')}`,
    );
  }
  if (after === undefined && before.length === 0 && project?.hasConfig === true) {
    return fromConfig(['.'], folder, options, asked);
  }
  const command = after ?? project?.start;
  if (command === undefined || command.length === 0) {
    throw wrongOption(
      `${project === undefined ? `${folder} has no package.json` : `package.json in ${folder} has no start script`}: give the command that starts the app, redline ${asked} -- node server.js`,
    );
  }
  return fromCommand(command, before, { folder, project }, options);
}

function fromCommand(
  command: readonly string[],
  asked: readonly string[],
  { folder, project }: { folder: string; project: Project | undefined },
  options: TargetOptions,
): TryTarget {
  const given = parseCommand(command);
  const launched = launchedApp(given, folder);
  const typed = launched?.line ?? given;
  const urls = asked.filter(isUrl).map(localUrl);
  const ports = new Set(urls.map((url) => Number(url.port || 80)));
  if (ports.size > 1) {
    throw wrongOption(
      `URLs of several ports (${[...ports].join(', ')}): one app is tried at a time.`,
    );
  }
  const name = shortName(typed.command);
  const host = urls[0] === undefined ? {} : hostOf(urls[0]);
  const env = { ...host, ...typed.env };
  const recording = recordingIn(options, asked);
  const requests: (string | RequestConfig)[] =
    recording?.requests ?? asked.map((each) => (isUrl(each) ? pathOf(localUrl(each)) : each));
  const config = withRequestOptions(
    {
      name: name.replaceAll(/[^\w.-]/g, '-'),
      requests: requests.length > 0 ? requests : ['/'],
      variants: [{ name, command: typed.command, env }],
    },
    options,
  );
  const [plan] = resolvePlans(config, launched?.cwd ?? folder, options) as [Plan];
  const { login, har } = options;
  if (login !== undefined) plan.login = parseLogin(login);
  if (recording !== undefined) {
    plan.requestLabel = `${plural(recording.requests.length, 'request')} of ${basename(har!)}`;
  }
  return {
    plan,
    app: plan.variants[0]!,
    typed,
    project,
    hasRequests: requests.length > 0 || options.request !== undefined,
    port: [...ports][0],
    launched: launched?.note,
    isRecorded: recording !== undefined,
    leftOut: recording?.leftOut ?? [],
    record: recordIn(options, asked),
  };
}

/** @throws {LabError} ERR_REDLINE_OPTION */
function recordingIn(
  { har, allow = [], ...options }: TargetOptions,
  asked: readonly string[],
): Recording | undefined {
  if (har === undefined) {
    if (allow.length > 0 && options.record === undefined) {
      throw wrongOption('--allow is for --har and --record.');
    }
    return undefined;
  }
  refuseOthers('--har', asked, options);
  return recordingOf(readHar(har), allow);
}

const defaultRecordSeconds = 30;

function recordIn(
  { record, allow = [], har, ...options }: TargetOptions,
  asked: readonly string[],
): TryTarget['record'] {
  if (record === undefined) return undefined;
  if (har !== undefined) throw wrongOption('--har is a recording already: omit --record.');
  refuseOthers('--record', asked, options);
  const seconds = record === true ? defaultRecordSeconds : Number(record);
  if (!(seconds > 0)) throw wrongOption(`--record takes seconds; got "${record}".`);
  return { ms: seconds * 1_000, allowed: allow };
}

/** Refuses a second option that chooses the requests. */
function refuseOthers(
  option: string,
  asked: readonly string[],
  { request, replay, route, method, body }: TargetOptions,
): void {
  const given = { request, replay, route, method, body };
  const [other] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  const others = asked.length > 0 ? 'a request' : other === undefined ? undefined : `--${other}`;
  if (others === undefined) return;
  throw wrongOption(`${option} chooses the requests, and so does ${others}: omit one of them.`);
}

async function fromConfig(
  before: readonly string[],
  folder: string,
  options: TargetOptions,
  asked: string,
): Promise<TryTarget> {
  const [target, ...rest] = before;
  if (rest.length > 0) {
    throw wrongOption(
      `What starts the app comes after --: redline ${asked} -- ${before.join(' ')}`,
    );
  }
  const chosen = await chooseVariant(
    { target: resolve(folder, target!), request: options },
    options.variant,
    options,
  );
  const { variant: app, plan } = chosen;
  const { login, har, record } = options;
  if (har !== undefined || record !== undefined) {
    const option = har === undefined ? '--record' : '--har';
    throw wrongOption(`${option} chooses the requests, and so does the config: give a command.`);
  }
  if (login !== undefined) plan.login = parseLogin(login);
  return {
    plan,
    app,
    typed: { command: app.command, env: app.env },
    project: readProject(app.cwd),
    hasRequests: true,
    port: app.port,
    launched: undefined,
    isRecorded: false,
    leftOut: [],
    record: undefined,
  };
}

function wrongOption(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
