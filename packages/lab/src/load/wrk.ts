import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import { readCpu, readOrEmpty } from '../system/cpu-clock.ts';
import { endChild, startChild } from '../system/guardian.ts';
import type { ClosedLoop, LoadGenerator, LoadOutcome } from './closed-loop.ts';
import { wrkVersion } from '../system/load-tools.ts';
import { wrkCommand } from './wrk-command.ts';

/** wrk checks whether to stop every 100 ms: signalled this much early, it ends on the intended tick. */
const stopTickMs = 50;
/** wrk needs up to 100 ms to end; after this time it is signalled again. */
const repeatMs = 300;

/** Returns undefined if wrk is not on PATH. */
export function findWrk(threads: number): LoadGenerator | undefined {
  const version = wrkVersion();
  if (version === undefined) return undefined;
  return { name: `wrk ${version}`, threads, launches: true, run: (load) => runWrk(load, threads) };
}

async function runWrk(load: ClosedLoop, threads: number): Promise<LoadOutcome> {
  const { program, args, script } = wrkCommand(load, threads);
  // Detached, so that Ctrl-C reaches only the runner.
  const child = startChild((mark) =>
    spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, ...mark },
    }),
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const closed = once(child, 'close');
  closed.catch(() => {});
  const startedAt = performance.now();
  try {
    // On a crowded machine wrk may take longer to start than a slice lasts.
    await untilSignalIsCaught('SIGINT', child.pid!, load.signal);
    await Promise.race([
      sleep(Math.max(load.durationMs - stopTickMs, 1), undefined, { signal: load.signal }),
      closed,
    ]);
    await load.beforeEnd?.();
    const elapsedMicros = (performance.now() - startedAt) * 1_000;
    const busy = readBusy(child.pid!, elapsedMicros, threads);
    await interrupt(child, closed);
    return { ...parseSummary(output), busy };
  } finally {
    await endChild(child);
    if (script) rmSync(script.folder, { recursive: true, force: true });
  }
}

/**
 * Signals wrk until it ends. A signal between the moment wrk installs its handler and the moment it goes to sleep ends its threads,
 * but not its sleep: it must be signalled again.
 */
async function interrupt(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  const ended = closed.then(() => true);
  while (true) {
    child.kill('SIGINT');
    if (await Promise.race([ended, sleep(repeatMs, false, { ref: false })])) return;
  }
}

/**
 * Waits for wrk's signal handler: on a crowded machine it may not be installed yet, and the signal would end wrk without output.
 */
export async function untilSignalIsCaught(
  name: 'SIGINT',
  pid: number,
  signal: AbortSignal,
): Promise<void> {
  const bit = 1n << BigInt(constants.signals[name] - 1);
  for (let tries = 0; tries < 1_000 && process.platform === 'linux'; tries++) {
    const caught = /^SigCgt:\s*([0-9a-f]+)/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1];
    // Without a status the process has ended, and its output says why.
    if (caught === undefined || (BigInt(`0x${caught}`) & bit) !== 0n) return;
    await sleep(5, undefined, { signal });
  }
}

function readBusy(pid: number, elapsedMicros: number, threads: number): number | undefined {
  const used = readCpu(pid).totalMicros;
  return used > 0 ? used / elapsedMicros / threads : undefined;
}

/** Exported for its test. */
export function parseSummary(output: string): Omit<LoadOutcome, 'busy'> {
  const total = /(\d+) requests in ([\d.]+)(us|ms|s|m)\b/.exec(output);
  if (total === null) {
    throw new LabError('ERR_REDLINE_LOAD', `wrk printed no summary. Its output:\n${output.trim()}`);
  }
  const unit = { us: 1e-6, ms: 1e-3, s: 1, m: 60 }[total[3] as 'us' | 'ms' | 's' | 'm'];
  // wrk's timeouts are responses that took more than two seconds; their connections continue.
  const errors = /connect (\d+), read (\d+), write (\d+)/.exec(output);
  return {
    requests: Number(total[1]),
    seconds: Number(total[2]) * unit,
    badStatus: Number(/Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? 0),
    socketErrors: errors === null ? 0 : errors.slice(1).reduce((sum, n) => sum + Number(n), 0),
  };
}
