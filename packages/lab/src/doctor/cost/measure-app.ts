import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestConfig } from '../../config/types.ts';
import { buildCallTree, type CallTree } from '../../profile/call-tree.ts';
import { loadThatCounts, warmUp } from '../../profile/serve.ts';
import { inFlightWarning, suitPlan } from '../../profile/suit-load.ts';
import type { Endpoint } from '../../load/endpoint.ts';
import { label, send } from '../../servers/contract.ts';
import { signIn } from '../../servers/sign-in.ts';
import { pinSelf } from '../../system/pinning.ts';
import type { FirstScreen } from '../../try/first-screen.ts';
import { chooseAll, mainOf } from '../../try/prepare.ts';
import type { TryTarget } from '../../try/target.ts';
import type { ScoutSettings } from '../../try/preload/protocol.ts';
import { Trial, type TrialOptions } from '../../try/trial.ts';
import { observerName } from '../preload/protocol.ts';
import type { Measured } from '../result.ts';
import { hottestLines } from './hot-functions.ts';
import { Observation } from './observation.ts';
import { servingWarnings } from './serving-warnings.ts';

export interface MeasureOptions {
  env: Record<string, string>;
  seconds: number;
  warmupSeconds: number;
  signal: AbortSignal;
  screen: FirstScreen;
  phase(text: string): void;
  /** Makes room for the first screen. */
  clear(): void;
}

export interface MeasuredApp {
  requests: Required<RequestConfig>[];
  /** For servers side by side, where they need other ports than they ask for. */
  redirecting: ScoutSettings | undefined;
  measured: Measured;
  tree: CallTree;
  /** The line of each function with most of its time. */
  lines: ReadonlyMap<string, number>;
  /** Microseconds of the main thread that a sample stands for, by requests served. */
  microsPerSample: number;
  warnings: string[];
}

interface Looked {
  requests: Required<RequestConfig>[];
  why: string | undefined;
  /** The port it insists on. */
  ports: { main?: number | string };
  hasOthers: boolean;
  /** Of its first request. */
  body: Buffer;
}

/** A response beyond it gains from being compressed on nearly every network. */
const largeBytes = 50_000;

/**
 * Starts the app, chooses its request as `redline try` does, and profiles it under a short load.
 * @returns undefined where a person, or --dry-run, stops it before the first request
 * @throws {LabError} ERR_REDLINE_TRY, ERR_REDLINE_SERVER, ERR_REDLINE_LOAD, ERR_REDLINE_PROFILE
 */
export async function measureApp(
  target: TryTarget,
  options: MeasureOptions,
): Promise<MeasuredApp | undefined> {
  const { env, signal, screen, phase } = options;
  if (!(await screen.beforeStart(target, signal))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'redline-doctor-'));
  const trial: TrialOptions = {
    app: target.app,
    env,
    pinning: pinSelf(target.plan.pin),
    folder,
    readyTimeoutMs: target.plan.readyTimeoutMs,
    signal,
  };
  try {
    const looked = await lookAt(target, trial, options);
    if (looked === undefined) return undefined;
    const { requests, why, ports, hasOthers, body: before } = looked;
    await using observation = await Observation.listen(join(folder, 'observer'));
    const observed = { ...trial, app: withObserver(target.app, observation.path) };
    phase('starting it again');
    await using again = await Trial.start(observed, { name: 'app', preloads: [], ...ports });
    const { server } = again;
    const { login } = target.plan;
    if (login !== undefined) await signIn(server, login);
    server.pin();
    const { body } = await settledAnswer(server, requests[0]!);
    const durationMs = options.seconds * 1_000;
    const suited = await suitPlan(server, { ...target.plan, requests }, { durationMs, signal });
    const { plan } = suited;
    await warmUp({ server, ...suited }, { warmupMs: options.warmupSeconds * 1_000, signal, phase });
    phase('profiling');
    await observation.start(signal);
    const load = await loadThatCounts({ server, ...suited }, { durationMs, signal });
    const inFlight = inFlightWarning(load);
    const taken = await observation.stop(signal);
    const tree = buildCallTree(taken.profile);
    const served = load.requests * taken.share;
    // What is compressed begins with no bracket.
    const isLarge = body.length > largeBytes && /^[\s{[<]/.test(body.toString('latin1', 0, 1));
    // Two copies of the app differ where a response holds a time or a random id.
    const isStable = body.equals(before);
    const isMain = ports.main === undefined && !hasOthers;
    return {
      tree,
      lines: hottestLines(taken.profile),
      requests: isStable ? requests : requests.map((each) => ({ ...each, compare: 'status' })),
      redirecting: isMain ? undefined : ports,
      microsPerSample: microsPerSample(tree, taken.waitedForCoreMicros) / served,
      measured: {
        request: plan.requestLabel ?? requests.map(label).join(', '),
        requestFrom: why ?? '',
        requests: load.requests,
        seconds: load.seconds,
        microsPerRequest: taken.cpuMicros / served,
        blockedMs: taken.blockedMs,
        responseBytes: body.length,
        samples: tree.samples,
        node: taken.node,
        ...(taken.cachedRoutes === undefined ? {} : { cachedRoutes: taken.cachedRoutes }),
      },
      warnings: [
        ...servingWarnings(taken.serving),
        ...(inFlight === undefined ? [] : [inFlight]),
        ...(isLarge
          ? [
              `${label(requests[0]!)} sends ${Math.round(body.length / 1_000)} kB uncompressed to a client that takes gzip: compress it in a proxy before the app, or in the app where there is none.`,
            ]
          : []),
        ...(load.badStatus > 0
          ? [`${load.badStatus} of ${load.requests} requests had a status outside 2xx and 3xx.`]
          : []),
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * What a sample stands for, in microseconds of the main thread. None is taken while the thread waits for a core, so that this time
 * is nobody's. A call that waits for something else is sampled, and keeps its time.
 */
export function microsPerSample(
  { seconds, samples, idleSamples }: Pick<CallTree, 'seconds' | 'samples' | 'idleSamples'>,
  waitedForCoreMicros: number,
): number {
  return Math.max(0, seconds * 1e6 - waitedForCoreMicros) / Math.max(1, samples + idleSamples);
}

/** Where the app listens, and what to ask it for. */
async function lookAt(
  target: TryTarget,
  trial: TrialOptions,
  { screen, phase, clear }: Pick<MeasureOptions, 'screen' | 'phase' | 'clear'>,
): Promise<Looked | undefined> {
  phase('starting the app, to see where it listens');
  await using first = await Trial.start(trial, { name: 'app', preloads: [] });
  if (!target.hasRequests) await first.settled(trial.signal);
  clear();
  if (!(await screen.beforeRequests(target, first, trial.signal))) return undefined;
  phase('asking its routes');
  const main = await mainOf(first, target);
  const { requests, why } = await chooseAll(first, main, target, {
    screen,
    signal: trial.signal,
  });
  const { body } = await settledAnswer(await first.endpoint(main), requests[0]!);
  return {
    requests,
    why,
    ports: main.port === first.server.port ? {} : { main: main.asked },
    hasOthers: first.listeners.length > 1,
    body,
  };
}

/** The first may fill a cache, and the second shows what is in it. */
async function settledAnswer(
  endpoint: Endpoint,
  request: Required<RequestConfig>,
): Promise<{ body: Buffer }> {
  const asked = { ...request, headers: { 'accept-encoding': 'gzip', ...request.headers } };
  await send(endpoint, asked);
  return send(endpoint, asked);
}

function withObserver(app: TryTarget['app'], path: string): TryTarget['app'] {
  const given = app.env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  const observer = `--import=${new URL('../preload/observer.js', import.meta.url).href}`;
  return {
    ...app,
    env: {
      ...app.env,
      NODE_OPTIONS: given ? `${given} ${observer}` : observer,
      [observerName]: path,
    },
  };
}
