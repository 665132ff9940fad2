import type { RequestConfig } from '../config/types.ts';
import { askProcess } from './ask-process.ts';
import type { Endpoint } from './endpoint.ts';

export interface OpenLoop extends Endpoint {
  requests: readonly Required<RequestConfig>[];
  connections: number;
  requestsPerSecond: number;
  /** Requests that are due at the same moment. */
  burst: number;
  durationMs: number;
  /** Keeps the sender's core busy, to be on time. Otherwise it may be a millisecond late. */
  isExact: boolean;
}

export interface OpenLoopOutcome {
  /** Milliseconds from the intended send to the last byte of the response. */
  p50: number;
  p99: number;
  answered: number;
  /** Requests whose latency counts that got no proper response by the end. */
  failed: number;
}

/**
 * Sends on a schedule, whether or not earlier requests are complete, and times each from its intended send: a server that stalls is
 * charged for every client that would have waited (coordinated omission).
 */
export function runOpenLoop(load: OpenLoop, signal: AbortSignal): Promise<OpenLoopOutcome> {
  return askProcess('./open-loop-process.js', 'The open-loop load', load, signal);
}
