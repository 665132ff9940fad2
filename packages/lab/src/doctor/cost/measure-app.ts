import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallsWatch } from '../../calls-out/calls-watch.ts';
import type { CallsSummary } from '../../calls-out/result.ts';
import { summariseCalls } from '../../calls-out/summarise-calls.ts';
import { watchApp } from '../../calls-out/watch-variant.ts';
import type { RequestConfig } from '../../config/types.ts';
import { buildCallTree, type CallTree } from '../../profile/call-tree.ts';
import { hottestLines } from '../../profile/hottest-lines.ts';
import { badStatusWarning, runMeasuredLoad, warmUp } from '../../profile/serve.ts';
import { inFlightWarning, withSuitableConnections } from '../../profile/suitable-load.ts';
import type { Endpoint } from '../../load/endpoint.ts';
import { plural } from '../../report/format.ts';
import { label, send } from '../../servers/contract.ts';
import { signIn } from '../../servers/sign-in.ts';
import { pinSelf } from '../../system/pinning.ts';
import type { FirstScreen } from '../../try/first-screen.ts';
import { chooseAll, mainOf } from '../../try/prepare.ts';
import type { TryTarget } from '../../try/target.ts';
import type { ScoutSettings } from '../../try/preload/protocol.ts';
import { Trial, type TrialOptions } from '../../try/trial.ts';
import { observerName, type Serving } from '../preload/protocol.ts';
import type { Measured } from '../result.ts';
import { Observation } from './observation.ts';

interface MeasureOptions {
  env: Record<string, string>;
  seconds: number;
  warmupSeconds: number;
  signal: AbortSignal;
  screen: FirstScreen;
  phase(text: string): void;
  /** Clears the progress line before the first screen. */
  clear(): void;
}

export interface MeasuredApp {
  requests: Required<RequestConfig>[];
  /** For servers side by side that need other ports than they request. */
  redirecting: ScoutSettings | undefined;
  measured: Measured;
  /** Detected in the running server. */
  framework: string | undefined;
  tree: CallTree;
  /** Line of each function with most of its time. */
  lines: ReadonlyMap<string, number>;
  /** Microseconds of the main thread per sample and request served. */
  microsPerSample: number;
  warnings: string[];
}

interface Explored {
  requests: Required<RequestConfig>[];
  why: string | undefined;
  /** Port that the app always uses. */
  ports: { main?: number | string };
  hasOthers: boolean;
  framework: string | undefined;
  /** Body of the response to its first request. */
  body: Buffer;
  calls: CallsSummary | undefined;
}

/** A larger response gains from compression on nearly every network. */
const largeBytes = 50_000;

/**
 * Starts the app, chooses its request as `redline try` does, and profiles it under a short load.
 * @returns undefined if the user, or --dry-run, stops it before the first request
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
    const explored = await exploreApp(target, trial, options);
    if (explored === undefined) return undefined;
    const { requests, why, ports, hasOthers, body: before, calls } = explored;
    await using observation = await Observation.listen(join(folder, 'observer'));
    const observed = { ...trial, app: withObserver(target.app, observation.path) };
    phase('starting it again');
    await using again = await Trial.start(observed, { name: 'app', preloads: [], ...ports });
    const { server } = again;
    const { login } = target.plan;
    if (login !== undefined) await signIn(server, login);
    server.pin();
    const { body } = await warmAnswer(server, requests[0]!);
    const durationMs = options.seconds * 1_000;
    const suited = await withSuitableConnections(
      server,
      { ...target.plan, requests },
      { durationMs, signal },
    );
    const { plan } = suited;
    await warmUp({ server, ...suited }, { warmupMs: options.warmupSeconds * 1_000, signal, phase });
    phase('profiling');
    await observation.start(signal);
    const load = await runMeasuredLoad({ server, ...suited }, { durationMs, signal });
    const inFlight = inFlightWarning(load);
    const taken = await observation.stop(signal);
    const tree = buildCallTree(taken.profile);
    const served = load.requests * taken.share;
    const micros = microsPerSample(tree, taken.waitedForCoreMicros) / served;
    // Compressed bodies do not start with a bracket.
    const isLarge = body.length > largeBytes && /^[\s{[<]/.test(body.toString('latin1', 0, 1));
    // Two copies of the app differ if a response contains a time or a random id.
    const isStable = body.equals(before);
    const isMain = ports.main === undefined && !hasOthers;
    return {
      framework: explored.framework,
      tree,
      lines: hottestLines(taken.profile),
      requests: isStable ? requests : requests.map((each) => ({ ...each, compare: 'status' })),
      redirecting: isMain ? undefined : ports,
      microsPerSample: micros,
      measured: {
        request: plan.requestLabel ?? requests.map(label).join(', '),
        requestFrom: why ?? '',
        requests: load.requests,
        seconds: load.seconds,
        microsPerRequest: taken.cpuMicros / load.requests,
        threadMicrosPerRequest: tree.samples * micros,
        ...(taken.profiled === undefined ? {} : { profiled: taken.profiled }),
        blockedMs: taken.blockedMs,
        responseBytes: body.length,
        samples: tree.samples,
        node: taken.node,
        ...(calls === undefined ? {} : { calls }),
        ...(taken.cachedRoutes === undefined ? {} : { cachedRoutes: taken.cachedRoutes }),
      },
      warnings: [
        ...servingWarnings(taken.serving),
        ...silentWarning(taken.silentThreads),
        ...(inFlight === undefined ? [] : [inFlight]),
        ...(isLarge
          ? [
              `${label(requests[0]!)} sends ${Math.round(body.length / 1_000)} kB uncompressed to a client that takes gzip: compress it in a proxy before the app, or in the app where there is none.`,
            ]
          : []),
        ...(load.badStatus > 0 ? [badStatusWarning(load)] : []),
      ],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function silentWarning(threads: number): string[] {
  if (threads === 0) return [];
  return [
    `${plural(threads, 'thread')} of the app did not respond and ${threads === 1 ? 'is' : 'are'} not profiled: blocked outside of JavaScript, as an idle thread of a pool is in Atomics.wait.`,
  ];
}

/**
 * Returns microseconds of the main thread per sample. No samples are taken while the thread waits for a core, so this time is not
 * attributed. A call that waits for something else is sampled, and keeps its time.
 */
export function microsPerSample(
  { seconds, samples, idleSamples }: Pick<CallTree, 'seconds' | 'samples' | 'idleSamples'>,
  waitedForCoreMicros: number,
): number {
  return Math.max(0, seconds * 1e6 - waitedForCoreMicros) / Math.max(1, samples + idleSamples);
}

/** Finds the app's listener and the requests for it. */
async function exploreApp(
  target: TryTarget,
  trial: TrialOptions,
  { screen, phase, clear }: Pick<MeasureOptions, 'screen' | 'phase' | 'clear'>,
): Promise<Explored | undefined> {
  phase('starting the app, to see where it listens');
  await using watch = await CallsWatch.listen(join(trial.folder, 'calls'));
  const watched = { ...trial, app: withCalls(target.app, watch) };
  await using first = await Trial.start(watched, { name: 'app', preloads: [] });
  if (!target.hasRequests) await first.untilNoNewRoutes(trial.signal);
  clear();
  if (!(await screen.beforeRequests(target, first, trial.signal))) return undefined;
  phase('asking its routes');
  const main = await mainOf(first, target);
  const { requests, why } = await chooseAll(first, main, target, {
    screen,
    signal: trial.signal,
  });
  const endpoint = await first.endpoint(main);
  const { body } = await warmAnswer(endpoint, requests[0]!);
  phase('asking what it waits for');
  const seen = await watchApp(watch, endpoint, requests, trial.signal);
  return {
    calls: summariseCalls(seen, { folder: target.app.cwd }),
    requests,
    why,
    ports: main.port === first.server.port ? {} : { main: main.asked },
    hasOthers: first.listeners.length > 1,
    framework: main.framework,
    body,
  };
}

/** Sends two requests: the first may fill a cache, and the second shows its content. */
async function warmAnswer(
  endpoint: Endpoint,
  request: Required<RequestConfig>,
): Promise<{ body: Buffer }> {
  const asked = { ...request, headers: { 'accept-encoding': 'gzip', ...request.headers } };
  await send(endpoint, asked);
  return send(endpoint, asked);
}

function withCalls(app: TryTarget['app'], watch: CallsWatch): TryTarget['app'] {
  const given = app.env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'];
  return { ...app, env: { ...app.env, ...watch.environment(given) } };
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

/** Cost of a replaced method, by its owner and name; the first match counts. */
const costs: readonly [method: RegExp, cost: string][] = [
  [
    /^http\.ServerResponse\.prototype\.emit$/,
    'each response emits its events, also those without a listener',
  ],
  [
    /^http\.IncomingMessage\.prototype\.emit$/,
    'each request emits the events of a stream, also one without a body',
  ],
  [
    /^http\.ServerResponse\.prototype\.(end|write|flushHeaders)$/,
    'each response that calls it is framed and written by JavaScript, over a socket',
  ],
  [/^http\.ServerResponse\./, 'each response is framed and written by JavaScript, over a socket'],
  [/^http\.IncomingMessage\./, 'each request is a stream from its start'],
];

/** Explains why a server created by @redline/http does not use its fast path: the replaced method, and its cost. */
export function servingWarnings(serving: Serving | undefined): string[] {
  if (serving === undefined) return [];
  const { name, reason, replaced = [] } = serving;
  if (name === 'node') {
    return [
      `@redline/http is loaded, but Node's own server serves the requests: ${reason}. Without that they are the engine's.`,
    ];
  }
  return replaced.map((method) => {
    const [, cost = 'the engine calls it'] = costs.find(([pattern]) => pattern.test(method)) ?? [];
    return `${method} was replaced, as an agent does: ${cost}, which takes some of what @redline/http gains. Without the agent it is all there; redline try measures both.`;
  });
}
