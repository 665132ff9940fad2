/** Messages between the runner and the server under test: one JSON object per line. */

/** Passed to the preload in the environment, as JSON, under this name. */
export const environmentName = 'REDLINE_STAIRS';

export interface PreloadSettings {
  /** `trace`: every function reports its entry. `cut`: only the stages are changed, and a request can end at each. */
  phase: 'trace' | 'cut';
  /** Where the runner listens for the server, on 127.0.0.1. */
  controlPort: number;
  /** The port of the measured server; other servers of the process are left alone. */
  listenPort: number;
  /** The port on which the app wants to listen, if that is taken: it gets `listenPort` instead. */
  redirectFrom?: number;
  /** Written if the process exits prematurely: what it was doing. */
  crashFile: string;
  /** Place of a stage → its number in the order of the request. Phase `cut` only. */
  stages: Record<string, number>;
  /** Functions where an unwinding request has to be stopped, because no caller would. */
  guards: string[];
  /** Whether a stage runs after an await: then the current response has to be looked up. */
  followsAsync: boolean;
}

/** How a stage was found. */
export type StageKind =
  | 'function'
  /** A function continues after an `await`. */
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
  /** The package it comes from, of what a bundle has of other packages. */
  package?: string;
  isAsync: boolean;
  isConstructor: boolean;
  /** Times it was entered within the request. */
  count: number;
  /** At least once, no function of the app was below it on the stack: nobody else would stop an unwinding request. */
  isRoot: boolean;
  /** One of our functions is below it on the stack and stops an unwinding request. */
  isCaught: boolean;
  /** Called by an emitter or a timer, which ignore its result. */
  isListener: boolean;
  /** Called by an adapter that has already made it a stage. */
  isWrapped: boolean;
  /** Entered after the response had been sent. */
  afterAnswer: boolean;
  /** Code of a dependency was on the stack below it. */
  isBelowDependency: boolean;
  /** Entered in the same turn of the event loop in which the request arrived. */
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
  /** Of the main thread. */
  threadMicros: number;
  /** Of all threads. */
  cpuMicros: number;
  /**
   * Of slices that were timed for it: from the early end of a request until it has left every function it called, in
   * µs.
   */
  endingMicros?: number;
}

/** How long the event loop had been idle when a request reached a stage. */
export interface WaitingMark {
  stage: number;
  idleMs: number;
}

/** Above every stage: nothing is cut. Both are the same to the server, but separate in the figures. */
export const whole = 100_000;
export const wholeAgain = 100_001;

/** Below every stage: requests report when they reach each, and none is cut. */
export const watched = -1;

export type ToServer =
  | { type: 'trace' }
  | { type: 'report' }
  /** Ends requests at this cut until the next message. */
  | { type: 'hold'; cut: number }
  /** The next request reports when it reached which stage. */
  | { type: 'watch' }
  | { type: 'marks' }
  | {
      type: 'slices';
      rounds: number[][];
      guardMs: number;
      countedMs: number;
      /** Times how requests leave, at some cost: the CPU of these slices is not comparable with others. */
      timesEndings: boolean;
    };

export type FromServer =
  | { type: 'hello'; pid: number; node: string; hasThreadClock: boolean }
  | { type: 'tracing' }
  | { type: 'trace'; trace: Trace }
  | { type: 'held'; stubs: number; requests: number }
  | { type: 'watching' }
  | { type: 'marks'; marks: WaitingMark[] }
  | { type: 'round'; slices: CutSlice[] }
  | { type: 'done' };

export interface CrashReport {
  cut: number;
  message: string;
}
