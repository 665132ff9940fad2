// Loaded into the app before its own code: NODE_OPTIONS=--import. It is also loaded into npm, every other Node process on the way
// and their worker threads, where it waits for orders.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { connect, type Socket } from 'node:net';
import { basename } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { isMainThread, threadId } from 'node:worker_threads';
import {
  type CachedRoute,
  observerName,
  type Order,
  profilingMicros,
  type Report,
  type Serving,
} from './protocol.ts';

/** Key of the list in which @redline/response-cache keeps the routes of the process. */
const kRoutes = Symbol.for('redline.cachedRoutes');

interface Listed {
  readonly name: string;
  readonly reads: WeakRef<ReadonlySet<string>>;
}

/** Returns the parts of the request that each cached route has read so far. */
export function cachedRoutes(): readonly CachedRoute[] | undefined {
  const listed = (globalThis as Record<symbol, unknown>)[kRoutes] as readonly Listed[] | undefined;
  if (listed === undefined) return undefined;
  const found = new Map<string, Set<string>>();
  for (const { name, reads } of listed) {
    const known = found.get(name) ?? new Set();
    for (const each of reads.deref() ?? []) known.add(each);
    found.set(name, known);
  }
  return [...found].map(([route, reads]) => ({ route, reads: [...reads].toSorted() }));
}

/** Key under which a server of @redline/http reports its engine. */
const kServedBy: unique symbol = Symbol.for('redline.http.servedBy') as never;

interface Known {
  [kServedBy]?(): Serving;
}

/**
 * Subscribes only until the next request: a subscriber costs every request something. Returns a function that reports the engine of
 * its server.
 */
function watchServing(): () => Serving | undefined {
  const channel = 'http.server.request.start';
  let server: Known | undefined;
  const take = (message: unknown): void => {
    unsubscribe(channel, take);
    ({ server } = message as { server: Known });
  };
  subscribe(channel, take);
  return () => {
    unsubscribe(channel, take);
    return server?.[kServedBy]?.();
  };
}

/** Delay that an idle loop shows, from the resolution of the timer. */
const resolutionMs = 5;

const path = process.env[observerName];
if (path !== undefined) observe(connect(path));

function observe(socket: Socket): void {
  // The runner that started the app may exit first.
  socket.on('error', () => {});
  // Unreferenced: the app exits as it would without an observer.
  socket.unref();
  const say = (report: Report): void => void socket.write(`${JSON.stringify(report)}\n`);
  const session = new Session();
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let before = process.cpuUsage();
  let threadBefore = threadTimes();
  let serving: ReturnType<typeof watchServing> | undefined;
  createRequire(import.meta.url)('../../../preload/json-frames.cjs');
  // A profile names a regular expression only if a profile was running when it was compiled. This profile keeps the names for the
  // one requested later, and is never read.
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: profilingMicros });
  session.post('Runtime.evaluate', { expression: "console.profile('redline')" });
  const start = (): void => {
    delay = monitorEventLoopDelay({ resolution: resolutionMs });
    delay.enable();
    before = process.cpuUsage();
    threadBefore = threadTimes();
    serving = watchServing();
    session.post('Profiler.start', () => say({ type: 'started' }));
  };
  const stop = (): void => {
    const { user, system } = process.cpuUsage(before);
    const { ranMicros, waitedForCoreMicros } = threadTimes();
    delay?.disable();
    session.post('Profiler.stop', (error, result) => {
      session.disconnect();
      say({
        type: 'stopped',
        profile: error === null ? result.profile : undefined,
        process: { pid: process.pid, cpuMicros: user + system },
        thread: {
          id: threadId,
          ...(isMainThread ? {} : { script: workerScript() }),
          cpuMicros: ranMicros === undefined ? undefined : ranMicros - threadBefore.ranMicros!,
        },
        waitedForCoreMicros: waitedForCoreMicros - threadBefore.waitedForCoreMicros,
        blockedMs: { longest: milliseconds(delay?.max), p99: milliseconds(delay?.percentile(99)) },
        node: process.versions.node,
        serving: serving?.(),
        cachedRoutes: cachedRoutes(),
      });
    });
  };
  createInterface({ input: socket }).on('line', (line) => {
    const { type } = JSON.parse(line) as Order;
    if (type === 'start') start();
    else stop();
  });
  say({ type: 'here', isMainThread });
}

/** Returns the times of this thread since its start, in microseconds. */
function threadTimes(): { ranMicros: number | undefined; waitedForCoreMicros: number } {
  try {
    const [ran, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8')
      .split(' ')
      .map(Number);
    return { ranMicros: ran! / 1_000, waitedForCoreMicros: waited! / 1_000 };
  } catch {
    return { ranMicros: undefined, waitedForCoreMicros: 0 };
  }
}

/** Returns the file of a worker thread; its code if it was given as text. */
function workerScript(): string {
  return basename(process.argv[1] ?? '');
}

function milliseconds(nanoseconds: number | undefined): number {
  return Math.max(0, (nanoseconds ?? 0) / 1e6 - resolutionMs);
}
