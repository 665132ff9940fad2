import type { RequestCalls } from '../../calls-out/preload/protocol.ts';

/** Messages between the runner and the server under test: one JSON object per line. */

/** Passed to the preload in the environment, as JSON, under this name. */
export const environmentName = 'REDLINE_STAIRS';

export interface PreloadSettings {
  /** `trace`: every function reports its entry. `cut`: only the stages are changed, and a request can end at each. */
  phase: 'trace' | 'cut';
  /** Port on which the runner listens for the server, on 127.0.0.1. */
  controlPort: number;
  /** The port of the measured server; other servers of the process are left alone. */
  listenPort: number;
  /** The port on which the app wants to listen, if that is taken: it gets `listenPort` instead. */
  redirectFrom?: number;
  /** Written if the process exits prematurely, with the cut at that time. */
  crashFile: string;
  /** Id of a stage → its number in the order of the request. Phase `cut` only. */
  stages: Record<string, number>;
  /** Functions that must stop an unwinding request, because no caller would. */
  guards: string[];
  /** True if a stage runs after an await: the current response then has to be looked up. */
  followsAsync: boolean;
}

/** Origin of a stage. */
export type StageKind =
  | 'function'
  /** A function that continues after an `await`. */
  | 'resume'
  | 'middleware'
  | 'hook'
  | 'handler'
  | 'guard'
  | 'interceptor'
  | 'pipe'
  | 'response'
  | 'send';

/** One function entered while a request was traced, in the order of first entries. */
export interface TraceEntry {
  id: string;
  kind: StageKind;
  name: string;
  /** `src/price.js:41`, relative to the folder in which the server was started. Empty for functions without a place. */
  place: string;
  /** Package of bundled code. */
  package?: string;
  isAsync: boolean;
  isConstructor: boolean;
  /** Number of entries within the request. */
  count: number;
  /** True if at least once no function of the app was below it on the stack: no other function would stop an unwinding request. */
  isRoot: boolean;
  /** True if one of our functions is below it on the stack and stops an unwinding request. */
  isCaught: boolean;
  /** True if called by an emitter or a timer, which ignore its result. */
  isListener: boolean;
  /** True if called by an adapter that has already made it a stage. */
  isWrapped: boolean;
  /** True if entered after the response had been sent. */
  afterAnswer: boolean;
  /** True if code of a dependency was below it on the stack. */
  isBelowDependency: boolean;
  /** True if entered in the same turn of the event loop in which the request arrived. */
  isSameTurn: boolean;
}

export interface Trace {
  entries: TraceEntry[];
  /** The frameworks whose adapters were used. */
  frameworks: string[];
  /** Files of the app that could not be read as JavaScript. */
  unreadable: string[];
}

export interface CutSlice {
  round: number;
  /** Number of the stage at whose entry requests ended; `whole` and `wholeAgain` belong to no stage. */
  cut: number;
  requests: number;
  /** Requests that were ended early. */
  stubs: number;
  /** Responses of the app with a status of 400 or above. */
  failures: number;
  seconds: number;
  /** CPU of the main thread. */
  threadMicros: number;
  /** CPU of all threads. */
  cpuMicros: number;
  /** Set in slices that time it: from the early end of a request until all functions it called have returned, in µs. */
  endingMicros?: number;
  /** Set in slices that count memory: what was allocated, and CPU of the garbage collector. */
  allocatedBytes?: number;
  collectorMicros?: number;
}

/** Idle time of the event loop when a request reached a stage. */
export interface WaitingMark {
  stage: number;
  idleMs: number;
}

/** Above every stage: nothing is cut. Both are identical to the server, but separate in the figures. */
export const whole = 100_000;
export const wholeAgain = 100_001;

/** Below every stage: requests report when they reach each stage, and none is cut. */
export const watched = -1;

export type ToServer =
  | { type: 'trace' }
  | { type: 'report' }
  /** Ends requests at this cut until the next message. */
  | { type: 'hold'; cut: number }
  /** The next request records when it reaches each stage, and what it calls. */
  | { type: 'watch' }
  | { type: 'marks' }
  | { type: 'unwatch' }
  | {
      type: 'slices';
      rounds: number[][];
      guardMs: number;
      countedMs: number;
      /** Times the endings of requests, at some cost: the CPU of these slices is not comparable with others. */
      timesEndings: boolean;
      /** Counts memory, likewise. */
      countsMemory: boolean;
    };

export type FromServer =
  | { type: 'hello'; pid: number; node: string; hasThreadClock: boolean }
  | { type: 'tracing' }
  | { type: 'trace'; trace: Trace }
  | { type: 'held'; stubs: number; requests: number }
  | { type: 'watching' }
  | { type: 'marks'; marks: WaitingMark[]; requests: RequestCalls[] }
  | { type: 'round'; slices: CutSlice[] }
  | { type: 'done' };

export interface CrashReport {
  cut: number;
  message: string;
}
