import { requireLog } from '../access-log/replay-list.ts';
import { parseCommand } from '../config/command-line.ts';
import { hostOf, isUrl, localUrl, pathOf, shortName } from '../config/from-url.ts';
import { loadConfig } from '../config/load-config.ts';
import { type RequestOptions, withRequestOptions } from '../config/request-options.ts';
import { type PlannedVariant, resolvePlans, resolveRequest } from '../config/resolve-plan.ts';
import type { RedlineConfig, RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { label } from '../servers/contract.ts';
import { findListener } from './find-listener.ts';
import { readReplayed, type ReplayedRequests } from './replayed-requests.ts';

/** One server and one request, or those of an access log: what is taken apart. */
export interface StairsTarget {
  /** Used in file names. */
  scenario: string;
  title: string;
  variant: PlannedVariant;
  request: Required<RequestConfig>;
  /** Takes the place of the one request, which is then the first that is traced. */
  replayed: ReplayedRequests | undefined;
  /** What is asked, for people. */
  asked: string;
  connections: number;
  pin: boolean;
  readyTimeoutMs: number;
  setup: RedlineConfig['setup'];
  /** The app listens on a port of its own choosing that is taken: it is sent to a free one. */
  redirectFrom: number | undefined;
}

export interface TargetOptions extends RequestOptions {
  variant?: string;
}

type OneRequest = Omit<StairsTarget, 'replayed' | 'asked'> & { replayFile?: string | undefined };

/** A closed loop this wide keeps a server busy, and leaves little under way at the border of two slices. */
const defaultConnections = 16;

/**
 * @param asked A URL of the running app, or one the command answers at; or a config file or folder.
 * @param command What starts the app, for a URL.
 * @throws {LabError} ERR_REDLINE_OPTION, ERR_REDLINE_CONFIG, ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_ACCESS_LOG
 */
export async function resolveTarget(
  asked: string,
  command: readonly string[],
  options: TargetOptions,
  signal: AbortSignal,
): Promise<StairsTarget> {
  if (!isUrl(asked) && command.length > 0) {
    throw wrong(
      `A command goes with a URL, not with "${asked}": redline stairs http://127.0.0.1:3000/ -- ${command.join(' ')}`,
    );
  }
  const target = isUrl(asked)
    ? await fromUrl(asked, command, options)
    : await fromConfig(asked, options);
  const { replayFile, ...one } = target;
  const connections = options.connections ?? target.connections;
  requireLog(replayFile, options.route);
  if (replayFile === undefined) {
    return { ...one, connections, replayed: undefined, asked: label(one.request) };
  }
  const read = await readReplayed(replayFile, options.route, signal);
  const { headers } = one.request;
  const withHeaders = (request: Required<RequestConfig>): Required<RequestConfig> => ({
    ...request,
    headers,
  });
  const replayed = {
    ...read,
    load: read.load.map(withHeaders),
    traced: read.traced.map(withHeaders),
  };
  return { ...one, connections, request: replayed.traced[0]!, replayed, asked: read.label };
}

async function fromConfig(file: string, options: TargetOptions): Promise<OneRequest> {
  const { config, folder } = await loadConfig(file);
  const plans = resolvePlans(withRequestOptions(config, options), folder, {});
  const name = options.variant ?? plans[0]!.baseline;
  const plan = plans.find(({ variants }) => variants.some((variant) => variant.name === name));
  if (plan === undefined) {
    const names = plans.flatMap(({ variants }) => variants.map((variant) => variant.name));
    throw wrong(`--variant "${name}" is not one of ${names.join(', ')}.`);
  }
  const variant = plan.variants.find((each) => each.name === name)!;
  return {
    scenario: plan.name,
    title: `${config.title ?? config.name}, ${name}`,
    variant,
    request: plan.requests[0]!,
    replayFile: options.replay ?? plan.replay?.file,
    // A config's number is chosen for throughput.
    connections: defaultConnections,
    pin: plan.pin,
    readyTimeoutMs: plan.readyTimeoutMs,
    setup: plan.setup,
    redirectFrom: undefined,
  };
}

async function fromUrl(
  text: string,
  command: readonly string[],
  options: TargetOptions,
): Promise<OneRequest> {
  const url = localUrl(text);
  const port = Number(url.port || 80);
  const { requests } = withRequestOptions(
    { name: '', variants: [], requests: [pathOf(url)] },
    options,
  );
  const running = command.length > 0 ? undefined : await findListener(url);
  const started = running ?? { ...parseCommand(command), cwd: process.cwd() };
  const name = shortName(started.command);
  return {
    scenario: name.replaceAll(/[^\w.-]/g, '-'),
    title: name,
    variant: {
      name,
      note: undefined,
      beside: false,
      command: started.command,
      cwd: started.cwd,
      env: running === undefined ? { ...hostOf(url), ...started.env } : started.env,
      // A running app keeps its port; the copy of it gets a free one.
      port: running === undefined ? port : undefined,
      probe: undefined,
    },
    request: resolveRequest(requests![0]!),
    replayFile: options.replay,
    connections: defaultConnections,
    pin: true,
    readyTimeoutMs: 30_000,
    setup: undefined,
    redirectFrom: running === undefined ? undefined : port,
  };
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
