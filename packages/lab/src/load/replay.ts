import { askProcess } from './ask-process.ts';

export interface Replay {
  /** e.g. `http://127.0.0.1:3000` */
  origin: string;
  requests: readonly { method: string; path: string; headers: Record<string, string> }[];
  /** When each is to be sent, in milliseconds from the start; ascending. */
  atMs: readonly number[];
  /** Sockets at most. */
  connections: number;
}

/** Index of the request, status, and milliseconds from the intended send to the last byte. */
export type ReplayAnswer = [request: number, status: number, latencyMs: number];

export interface ReplayOutcome {
  answers: ReplayAnswer[];
  /** Sent, and not answered by the end. */
  failed: number;
  seconds: number;
}

/** Sends recorded requests at their times, whether or not earlier ones were answered. */
export function runReplay(replay: Replay, signal: AbortSignal): Promise<ReplayOutcome> {
  return askProcess('./replay-process.js', 'The replay', replay, signal);
}
