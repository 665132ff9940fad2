import type { BenchResult } from '../bench/result.ts';
import type { RunFacts } from '../report/run-facts.ts';

/**
 * What the app gains: `gains`, `nothing` (at most a few percent), `loses`, `unresolved` (this run cannot tell), `withheld`
 * (the app differed from itself).
 */
export type TryWord = 'gains' | 'nothing' | 'loses' | 'unresolved' | 'withheld';

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
    /** What that has node do, e.g. `node dist/main`, where it is not a command of node and package.json says it. */
    nodeCommand?: string;
    /** As its server shows it, or package.json where that shows nothing, e.g. `Nest on Fastify`. */
    framework?: string;
    /** The Node that runs it, e.g. `24.21.0`. */
    node: string;
    /** The port it insists on. Absent where it takes the one in `PORT`. */
    port?: number;
  };
  /** Why these requests, in one sentence. */
  requestsFrom: string;
  /** What a response takes without load, and its CPU. Absent in files of older versions. */
  response?: { tookMs: number; cpuMs: number };
  /** Whether bodies were compared, or, as they change from one request to the next, the status alone. */
  compared: 'body' | 'status';
  /** What was imported before the app. */
  packages: { name: string; version: string; from: 'app' | 'redline' }[];
  word: TryWord;
  /** What to type to keep it. */
  keep: string[];
  /** The measurement itself: the app as it is, again, and with redline. */
  bench: BenchResult;
}
