/** What the runner and the server under test say to each other: one JSON object a line. */

/** Handed to the preload in the environment, as JSON, under this name. */
export const environmentName = 'REDLINE_STAIRS';

export interface PreloadSettings {
  /** `trace`: every function reports that it was entered. `cut`: only the stages are touched, and a request can end at each. */
  phase: 'trace' | 'cut';
  /** Where the runner listens for the server, on 127.0.0.1. */
  controlPort: number;
  /** The port whose server is meant; others of the same process are left alone. */
  listenPort: number;
  /** Where the app means to listen, when that is taken: it gets `listenPort` instead. */
  redirectFrom?: number;
  /** Written when the process ends in the middle: what it was doing. */
  crashFile: string;
  /** Place of a stage → its number in the order of the request. Phase `cut` only. */
  stages: Record<string, number>;
  /** Functions where an unwinding request has to be stopped, because whoever called them would take it for a failure. */
  guards: string[];
  /** Whether a stage runs after something was waited for: then the current response has to be looked up. */
  followsAsync: boolean;
}

/** How a stage came to be known. */
export type StageKind =
  | 'function'
  | 'middleware'
  | 'hook'
  | 'handler'
  | 'guard'
  | 'interceptor'
  | 'pipe'
  | 'response'
  | 'send';

/** One thing that was entered while a request was traced, in the order of first entries. */
export interface TraceEntry {
  id: string;
  kind: StageKind;
  name: string;
  /** `src/price.js:41`, relative to the folder the server was started in. Empty for what has no place of its own. */
  place: string;
  isAsync: boolean;
  isConstructor: boolean;
  /** Times it was entered within the request. */
  count: number;
  /** No function of the app was below it on the stack, at least once: nobody else would stop an unwinding request. */
  isRoot: boolean;
  /** It was called by something that is not the app's. */
  isBorder: boolean;
  /** Called by an adapter that made a stage of it already. */
  isWrapped: boolean;
  /** Entered when the answer had been sent. */
  afterAnswer: boolean;
  /** Code of a dependency was on the stack below it. */
  isBelowDependency: boolean;
  /** Entered in the same turn of the event loop in which the request arrived. */
  isSameTurn: boolean;
}

export interface Trace {
  entries: TraceEntry[];
  /** Whose adapters were used. */
  frameworks: string[];
  /** Files of the app that could not be read as JavaScript. */
  unreadable: string[];
}

export interface CutSlice {
  round: number;
  /** Number of the stage at whose entry requests ended; `whole` and `wholeAgain` are no stage's. */
  cut: number;
  requests: number;
  /** Requests that were ended early. */
  stubs: number;
  /** Answers of the app with a status of 400 or more. */
  failures: number;
  seconds: number;
  /** Of the main thread. */
  threadMicros: number;
  /** Of all threads. */
  cpuMicros: number;
}

/** Above every stage: nothing is cut. Both are the same to the server, and told apart in the figures. */
export const whole = 100_000;
export const wholeAgain = 100_001;

/**
 * Below every stage: requests end as they arrive, once as they do at a stage and once without what that costs. The
 * difference is what ending a request costs by itself.
 */
export const atArrival = -1;
export const atArrivalFree = -2;

export type ToServer =
  | { type: 'trace' }
  | { type: 'report' }
  /** Ends requests at this cut until the next word. */
  | { type: 'hold'; cut: number }
  | { type: 'slices'; rounds: number[][]; guardMs: number; countedMs: number }
  | { type: 'stop' };

export type FromServer =
  | { type: 'hello'; pid: number; node: string; hasThreadClock: boolean }
  | { type: 'tracing' }
  | { type: 'trace'; trace: Trace }
  | { type: 'held'; stubs: number; requests: number }
  | { type: 'round'; slices: CutSlice[] }
  | { type: 'done' };

export interface CrashReport {
  cut: number;
  message: string;
}
