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

/** The server to take apart, with one request or those of an access log. */
export interface StairsTarget {
  /** Used in file names. */
  scenario: string;
  title: string;
  variant: PlannedVariant;
  request: Required<RequestConfig>;
  /** Replaces the single request, which is then the first to be traced. */
  replayed: ReplayedRequests | undefined;
  /** Description of the requests for display. */
  asked: string;
  connections: number;
  pin: boolean;
  readyTimeoutMs: number;
  setup: RedlineConfig['setup'];
  /** The port that the app chose and that is taken: it is redirected to a free one. */
  redirectFrom: number | undefined;
}

export interface TargetOptions extends RequestOptions {
  variant?: string;
}

type OneRequest = Omit<StairsTarget, 'replayed' | 'asked'> & { replayFile?: string | undefined };

/** A closed loop with this many connections keeps a server busy, and leaves few requests in flight between two slices. */
const defaultConnections = 16;

/**
 * @param asked A URL of the running app, or one the command serves; or a config file or folder.
 * @param command Starts the app, for a URL.
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
    // Not the config's number, which is chosen for throughput.
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
      over: undefined,
      command: started.command,
      cwd: started.cwd,
      env: running === undefined ? { ...hostOf(url), ...started.env } : started.env,
      // A running app keeps its port; its copy gets a free one.
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
