import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { checkContract, label, send, sendOnceReady, statusText } from '../servers/contract.ts';
import { distinctRequests } from '../servers/distinct-requests.ts';
import { pinSelf } from '../system/pinning.ts';
import { asItIs, withRedline } from './app.ts';
import { chooseRequest, pickRoutes } from './choose-request.ts';
import type { FirstScreen } from './first-screen.ts';
import { findPreload, type Preload } from './packages.ts';
import type { Listening } from './preload/protocol.ts';
import type { TryTarget } from './target.ts';
import { Trial, type TrialOptions } from './trial.ts';

/** What is known of an app once it has been started three times. */
export interface Prepared {
  requests: Required<RequestConfig>[];
  /** Only where the requests were found here. */
  why: string | undefined;
  compared: 'body' | 'status';
  preloads: Preload[];
  /** The listener that is asked, as the app opened it. */
  main: Listening;
  /** Whether it listens there whatever `PORT` says. */
  isFixed: boolean;
  /** Whether its servers need other ports than they ask for, to run side by side. */
  isRedirected: boolean;
}

interface Preparation {
  env: Record<string, string>;
  signal: AbortSignal;
  screen: FirstScreen;
  phase(text: string): void;
  /** Makes room for the first screen. */
  clear(): void;
}

/** Requests that limiters of development and production let pass in no time, or for a second. */
const burst = 200;
const burstMs = 1_000;

/** Of a log, a few show whether the responses agree. */
const mostChecked = 20;

/**
 * Starts the app as it is, finds where it listens and what it answers; then once more beside one with redline, and compares
 * what the two answer.
 * @returns undefined where a person, or --dry-run, stops it before the first request
 * @throws {LabError} ERR_REDLINE_TRY, ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT
 */
export async function prepare(
  target: TryTarget,
  { phase, clear, screen, ...common }: Preparation,
): Promise<Prepared | undefined> {
  const { app, plan } = target;
  const { signal } = common;
  const http = findPreload('@redline/http', app.cwd);
  if (!(await screen.beforeStart(target, signal))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'redline-try-'));
  const options: TrialOptions = {
    ...common,
    app,
    pinning: pinSelf(false),
    folder,
    readyTimeoutMs: plan.readyTimeoutMs,
  };
  try {
    phase('starting the app, to see where it listens');
    await using first = await Trial.start(options, { name: asItIs, preloads: [] });
    const main = mainOf(first, target);
    clear();
    if (!(await screen.beforeRequests(target, main, signal))) return undefined;
    phase('asking its routes');
    const { requests, why, startsChildren } = await chooseAll(first, main, target, common.signal);
    const preloads = startsChildren
      ? [http, findPreload('@redline/child-process', app.cwd)]
      : [http];
    phase('comparing its responses with and without redline');
    const isFixed = main.port !== first.server.port;
    const how = isFixed ? { main: main.asked } : {};
    await using second = await Trial.start(options, { name: asItIs, preloads: [], ...how });
    await using changed = await Trial.start(options, { name: withRedline, preloads, ...how });
    requireEngine(changed, target);
    const checked = distinctRequests(requests).slice(0, mostChecked);
    const compared = (await agrees(first, second, main, checked)) ? 'body' : 'status';
    const settled = compared === 'body' ? checked : checked.map(byStatus);
    await checkContract([second.server, changed.server], settled);
    return {
      requests: compared === 'body' ? requests : requests.map(byStatus),
      why,
      compared: settled.every(({ compare }) => compare === 'body') ? 'body' : 'status',
      preloads,
      main,
      isFixed,
      isRedirected: isFixed || first.listeners.length > 1,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws {LabError} ERR_REDLINE_TRY where it is not plain HTTP/1.1 */
export function mainOf(trial: Trial, { port }: TryTarget): Listening {
  const main = trial.main(port)!;
  if (main.kind === 'http') return main;
  const reason = {
    tls: 'the app terminates TLS itself, and that stays with Node. It pays where a proxy does that.',
    http2: 'the app speaks HTTP/2, and that stays with Node. It pays for HTTP/1.1.',
    other: 'the server there does not speak HTTP.',
  };
  throw new LabError('ERR_REDLINE_TRY', `Not for you: ${reason[main.kind]}`);
}

/** The requests of a target, or the route of an app that is found to take longest. */
export async function chooseAll(
  trial: Trial,
  main: Listening,
  { plan, hasRequests }: TryTarget,
  signal: AbortSignal,
): Promise<{
  requests: Required<RequestConfig>[];
  why: string | undefined;
  startsChildren: boolean;
}> {
  const endpoint = await trial.endpoint(main);
  const chosen = hasRequests
    ? undefined
    : await chooseRequest(endpoint, pickRoutes(main.routes), {
        headers: plan.requests[0]!.headers,
        readyTimeoutMs: plan.readyTimeoutMs,
        signal,
      });
  const requests =
    chosen === undefined ? plan.requests : [{ ...plan.requests[0]!, ...chosen.request }];
  const before = trial.childrenStarted;
  const asked = distinctRequests(requests).slice(0, mostChecked);
  for (const request of asked) {
    await sendOnceReady(endpoint, request, plan.readyTimeoutMs).catch(async (error: Error) => {
      throw await trial.server.failure(`did not answer ${request.method} (${error.message})`);
    });
  }
  // What a timer starts now and then is not the work of a request.
  const startsChildren = trial.childrenStarted - before >= asked.length / 2;
  await requireNoLimit(endpoint, asked, signal);
  return { requests, why: chosen?.why, startsChildren };
}

/**
 * A limit of requests is found here in a moment, and not in the middle of a measurement.
 * @throws {LabError} ERR_REDLINE_TRY
 */
async function requireNoLimit(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + burstMs;
  for (let sent = 0; sent < burst && performance.now() < until; sent++) {
    signal.throwIfAborted();
    const request = requests[sent % requests.length]!;
    const answer = await send(endpoint, request).catch(() => undefined);
    if (answer?.status !== 429) continue;
    throw new LabError(
      'ERR_REDLINE_TRY',
      `${label(request)} answers, after ${sent} requests in a row, with ${statusText(answer)}.`,
    );
  }
}

/** Whether two processes of the same app answer the same bytes: times and random ids do not. */
async function agrees(
  first: Trial,
  second: Trial,
  main: Listening,
  requests: readonly Required<RequestConfig>[],
): Promise<boolean> {
  const endpoint = await first.endpoint(main);
  for (const request of requests) {
    // The first may fill a cache, and the second shows what is in it.
    const ask = async (trial: Trial, each: Endpoint): Promise<Buffer> => {
      try {
        await sendOnceReady(each, request);
        return (await send(each, request)).body;
      } catch (error) {
        throw await trial.server.failure(
          `did not answer ${label(request)} (${(error as Error).message})`,
        );
      }
    };
    const [one, other] = [await ask(first, endpoint), await ask(second, second.server)];
    if (!one.equals(other)) return false;
  }
  return true;
}

function byStatus(request: Required<RequestConfig>): Required<RequestConfig> {
  return { ...request, compare: 'status' };
}

function requireEngine(changed: Trial, { port }: TryTarget): void {
  const reason = changed.main(port)?.leftToNode;
  if (reason === undefined) return;
  throw new LabError(
    'ERR_REDLINE_TRY',
    `Not for you: @redline/http leaves this server to Node, because ${reason}.`,
  );
}
