// Loaded into the app before its own code: NODE_OPTIONS=--import. It reaches npm and every other Node process on the way
// too, and waits there to be asked.
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { isMainThread } from 'node:worker_threads';
import { cachedRoutes } from './cached-routes.ts';
import { giveJsonFrames } from './json-frames.ts';
import { observerName, type Order, profilingMicros, type Report } from './protocol.ts';
import { watchServing } from './serving-server.ts';

/** A loop that is free is late by this much, as its timer is asked for. */
const resolutionMs = 5;

const path = process.env[observerName];
if (path !== undefined && isMainThread) observe(connect(path));

function observe(socket: Socket): void {
  // Whoever started the app may be gone before it.
  socket.on('error', () => {});
  // The app ends when it would without an observer.
  socket.unref();
  const say = (report: Report): void => void socket.write(`${JSON.stringify(report)}\n`);
  const session = new Session();
  let delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  let before = process.cpuUsage();
  let waitedBefore = waitedForCore();
  let serving: ReturnType<typeof watchServing> | undefined;
  giveJsonFrames();
  // A profile names a regular expression only if one was being taken when it was compiled. This one keeps their names for the
  // profile that is asked for, and is never read.
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: profilingMicros });
  session.post('Runtime.evaluate', { expression: "console.profile('redline')" });
  const start = (): void => {
    delay = monitorEventLoopDelay({ resolution: resolutionMs });
    delay.enable();
    before = process.cpuUsage();
    waitedBefore = waitedForCore();
    serving = watchServing();
    session.post('Profiler.start', () => say({ type: 'started' }));
  };
  const stop = (): void => {
    const { user, system } = process.cpuUsage(before);
    const waitedForCoreMicros = waitedForCore() - waitedBefore;
    delay?.disable();
    session.post('Profiler.stop', (error, result) => {
      session.disconnect();
      say({
        type: 'stopped',
        profile: error === null ? result.profile : undefined,
        cpuMicros: user + system,
        waitedForCoreMicros,
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
  say({ type: 'here' });
}

/** Of the main thread since it began, in microseconds. */
function waitedForCore(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) / 1_000;
  } catch {
    return 0;
  }
}

function milliseconds(nanoseconds: number | undefined): number {
  return Math.max(0, (nanoseconds ?? 0) / 1e6 - resolutionMs);
}
