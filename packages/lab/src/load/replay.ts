import { askProcess } from './ask-process.ts';

export interface Replay {
  /** e.g. `http://127.0.0.1:3000` */
  origin: string;
  requests: readonly { method: string; path: string; headers: Record<string, string> }[];
  /** Time to send each, in milliseconds from the start; ascending. */
  atMs: readonly number[];
  /** Max sockets. */
  connections: number;
}

/** Index of the request, status, and milliseconds from the intended send to the last byte. */
export type ReplayAnswer = [request: number, status: number, latencyMs: number];

export interface ReplayOutcome {
  answers: ReplayAnswer[];
  /** Sent, but without a response by the end. */
  failed: number;
  seconds: number;
}

/** Sends recorded requests at their times, whether or not earlier ones are complete. */
export function runReplay(replay: Replay, signal: AbortSignal): Promise<ReplayOutcome> {
  return askProcess('./replay-process.js', 'The replay', replay, signal);
}
