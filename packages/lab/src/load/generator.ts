import type { RequestConfig } from '../config/types.ts';
import type { Endpoint } from './endpoint.ts';

/** A closed loop: every connection sends its next request when the last one was answered. */
export interface LoadGenerator {
  /** With its version, for the report. */
  readonly name: string;
  readonly threads: number;
  /** Whether it minds `launcher`. */
  readonly launches: boolean;
  run(load: ClosedLoop): Promise<LoadOutcome>;
}

export interface ClosedLoop extends Endpoint {
  requests: readonly Required<RequestConfig>[];
  connections: number;
  /** Requests sent at a time on each connection. */
  pipeline: number;
  durationMs: number;
  signal: AbortSignal;
  /** Called when the time is over and connections are still open; where the generator cannot wait, when it has ended. */
  beforeEnd?: () => Promise<void>;
  /** Put before the generator's own command where it is one, e.g. `taskset -c 1`. */
  launcher?: readonly string[];
}

export interface LoadOutcome {
  requests: number;
  seconds: number;
  /** Answers with a status outside 2xx and 3xx. */
  badStatus: number;
  /** Connections that failed, were reset or timed out. */
  socketErrors: number;
  /** Share of one core per thread the generator used, 0 to 1; undefined where it cannot be read. */
  busy: number | undefined;
}
