import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { chooseVariant } from '../command/choose-variant.ts';
import { splitAtDashes } from '../command/dashes.ts';
import { type CommandLine, parseCommand } from '../config/command-line.ts';
import { hostOf, isUrl, localUrl, pathOf, shortName } from '../config/from-url.ts';
import { type RequestOptions, withRequestOptions } from '../config/request-options.ts';
import { type Plan, type PlannedVariant, resolvePlans } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { launchedApp } from '../servers/launched-app.ts';
import { type Project, readProject } from '../project/read-project.ts';

/** An app, and what is known of its requests before it was started. */
export interface TryTarget {
  /** Everything but variants and precision. */
  plan: Plan;
  app: PlannedVariant;
  /** As typed, for people. */
  typed: CommandLine;
  project: Project | undefined;
  /** Whether the requests of the plan are what the user named. */
  hasRequests: boolean;
  /** That of a URL. */
  port: number | undefined;
  /** Why another program is started than the one that was typed. */
  launched: string | undefined;
}

export interface TargetOptions extends RequestOptions {
  variant?: string;
  cwd?: string;
}

/**
 * `[URL or /path …] -- COMMAND`, a config, or nothing: then the config of the folder, or the start script of its package.json.
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
  const requests = asked.map((each) => (isUrl(each) ? pathOf(localUrl(each)) : each));
  const config = withRequestOptions(
    {
      name: name.replaceAll(/[^\w.-]/g, '-'),
      requests: requests.length > 0 ? requests : ['/'],
      variants: [{ name, command: typed.command, env }],
    },
    options,
  );
  const [plan] = resolvePlans(config, launched?.cwd ?? folder, options) as [Plan];
  return {
    plan,
    app: plan.variants[0]!,
    typed,
    project,
    hasRequests: requests.length > 0 || options.request !== undefined,
    port: [...ports][0],
    launched: launched?.note,
  };
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
  return {
    plan,
    app,
    typed: { command: app.command, env: app.env },
    project: readProject(app.cwd),
    hasRequests: true,
    port: app.port,
    launched: undefined,
  };
}

function wrongOption(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
