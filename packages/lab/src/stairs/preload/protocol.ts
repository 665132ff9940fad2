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
  /** Functions where an unwinding request has to be stopped, because nobody above them would. */
  guards: string[];
  /** Whether a stage runs after something was waited for: then the current response has to be looked up. */
  followsAsync: boolean;
}

/** How a stage came to be known. */
export type StageKind =
  | 'function'
  /** A function goes on behind an `await`. */
  | 'resume'
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
  /** Something of ours stands below it on the stack, which stops an unwinding request. */
  isCaught: boolean;
  /** Called by an emitter or a timer, which take no notice of what it returns. */
  isListener: boolean;
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
  /** Number of the stage at whose entry requests ended; `whole` and `wholeAgain` belong to no stage. */
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
  /** Of slices that were timed for it: from the early end of a request until it has left everything it called, in µs. */
  endingMicros?: number;
}

/** The event loop had been idle for so long when a request came to a stage. */
export interface WaitingMark {
  stage: number;
  idleMs: number;
}

/** Above every stage: nothing is cut. Both are the same to the server, and told apart in the figures. */
export const whole = 100_000;
export const wholeAgain = 100_001;

/** Below every stage: requests tell when they come to each, and none is cut. */
export const watched = -1;

export type ToServer =
  | { type: 'trace' }
  | { type: 'report' }
  /** Ends requests at this cut until the next word. */
  | { type: 'hold'; cut: number }
  /** The next request tells when it came to which stage. */
  | { type: 'watch' }
  | { type: 'marks' }
  | {
      type: 'slices';
      rounds: number[][];
      guardMs: number;
      countedMs: number;
      /** Times how requests leave, at some cost: the CPU of these slices is not that of others. */
      timesEndings: boolean;
    }
  | { type: 'stop' };

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
