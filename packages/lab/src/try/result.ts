import type { BenchResult } from '../bench/result.ts';
import type { RunFacts } from '../report/run-facts.ts';

/**
 * Verdict on an app: `gains`, `nothing` (at most a few percent), `loses`, `unresolved` (this run cannot tell), `withheld` (the app
 * differed from itself).
 */
export type TryVerdict = 'gains' | 'nothing' | 'loses' | 'unresolved' | 'withheld';

/** The result of `redline try`: the JSON file, and the only source of a report. */
export interface TryResult extends RunFacts {
  schema: 1;
  command: 'try';
  /** e.g. `npm start, GET /feed` */
  title: string;
  durationSeconds: number;
  app: {
    /** As typed. */
    command: string;
    /** The node command that it runs, e.g. `node dist/main`, if it is not one itself and package.json reveals it. */
    nodeCommand?: string;
    /** Detected in the running server; from package.json for frameworks that a server does not show, e.g. `Nest on Fastify`. */
    framework?: string;
    /** Version of the Node that runs it, e.g. `24.21.0`. */
    node: string;
    /** Port that the app always uses. Absent if it uses the one in `PORT`. */
    port?: number;
  };
  /** Reason for these requests, in one sentence. */
  requestsFrom: string;
  /** Time and CPU of a response without load. Absent in files of older versions. */
  response?: { tookMs: number; cpuMs: number };
  /** Compared part of the responses: the body, or only the status if bodies change from one request to the next. */
  compared: 'body' | 'status';
  /** Packages imported before the app. */
  packages: { name: string; version: string; from: 'app' | 'redline' }[];
  word: TryVerdict;
  /** Commands that keep the measured set-up. */
  keep: string[];
  /** The measurement itself: the app unchanged, again, and with redline. */
  bench: BenchResult;
}
