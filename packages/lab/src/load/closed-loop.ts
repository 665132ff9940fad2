import { createRequire } from 'node:module';
import type { RequestConfig } from '../config/types.ts';
import { askProcess } from './ask-process.ts';
import type { Endpoint } from './endpoint.ts';

/** A closed loop: every connection sends its next request when the last response is complete. */
export interface LoadGenerator {
  /** With its version, for the report. */
  readonly name: string;
  readonly threads: number;
  /** True if it uses `launcher`. */
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
  /** Called when the time is over and connections are still open; if the generator cannot wait, after it has ended. */
  beforeEnd?: () => Promise<void>;
  /** Put before the generator's command, if it has one, e.g. `taskset -c 1`. */
  launcher?: readonly string[];
}

export interface LoadOutcome {
  requests: number;
  seconds: number;
  /** Responses with a status outside 2xx and 3xx. */
  badStatus: number;
  /** Connections that failed, were reset or timed out. */
  socketErrors: number;
  /** Share of one core per thread the generator used, 0 to 1; undefined if it cannot be read. */
  busy: number | undefined;
}

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/**
 * The generator where wrk is not installed, on node:net. It costs more CPU per request than wrk, so a fast server saturates it
 * sooner; the guard on `busy` reports that.
 */
export function ownGenerator(): LoadGenerator {
  return {
    name: `redline ${version}`,
    threads: 1,
    launches: false,
    async run({ signal, beforeEnd, ...load }) {
      const outcome = await askProcess<LoadOutcome>(
        './closed-loop-process.js',
        'The closed-loop load',
        load,
        signal,
      );
      await beforeEnd?.();
      return outcome;
    },
  };
}
