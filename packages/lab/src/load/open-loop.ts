import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';

export interface OpenLoop {
  port: number;
  requests: readonly Required<RequestConfig>[];
  connections: number;
  requestsPerSecond: number;
  durationMs: number;
}

export interface OpenLoopOutcome {
  /** Milliseconds from the intended send to the last byte of the answer. */
  p50: number;
  p99: number;
  answered: number;
  /** Sent, and not answered properly by the end. */
  failed: number;
}

/**
 * Sends on a schedule, whether or not earlier requests were answered, and times each from when it was meant to be
 * sent: a server that stalls is charged for everybody who would have waited (coordinated omission).
 * It runs in a process of its own, for the runner's garbage must not delay a send.
 */
export async function runOpenLoop(load: OpenLoop, signal: AbortSignal): Promise<OpenLoopOutcome> {
  const child = fork(fileURLToPath(new URL('./open-loop-process.js', import.meta.url)), {
    detached: true,
  });
  const abort = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', abort);
  try {
    child.send(load);
    const exited = once(child, 'exit').then(() => undefined);
    const answered = once(child, 'message').then(([message]) => message as OpenLoopOutcome);
    const outcome = await Promise.race([answered, exited]);
    signal.throwIfAborted();
    if (outcome === undefined) {
      throw new LabError('ERR_REDLINE_LOAD', 'The open-loop load ended without a result.');
    }
    return outcome;
  } finally {
    signal.removeEventListener('abort', abort);
    child.kill('SIGKILL');
  }
}
