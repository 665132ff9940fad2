/** A system that an app calls, and a response may wait for. */
export type CallSystem = 'PostgreSQL' | 'MySQL' | 'SQLite' | 'MongoDB' | 'Redis' | 'HTTP';

/** A function of the app on the stack of a call. Line and column count from 1. */
export interface CallFrame {
  name: string;
  file: string;
  line: number;
  column: number;
}

/** One call. Times are milliseconds since the request arrived. */
export interface CallOut {
  system: CallSystem;
  /** The statement with its literals replaced; command and pattern of the key; or method, origin and pattern of the path. */
  text: string;
  /** Number of its values among those of all calls with this text: the same values have the same number. */
  values: number;
  /** The nearest function first; empty if the call has none on its stack. */
  frames: CallFrame[];
  /** Number of the stage that the request had reached. Absent without stages. */
  stage?: number;
  fromMs: number;
  toMs: number;
  /** Idle time of the event loop so far, at both ends. */
  fromIdleMs: number;
  toIdleMs: number;
  /** CPU of the thread so far, at both ends; where Node has no such clock, the time in which its loop was not idle. */
  fromCpuMs: number;
  toCpuMs: number;
  hasFailed?: true;
  /** Set if the response was sent before the call had ended: the response did not wait for the rest of it. */
  isOpen?: true;
}

/** The calls of one request that was alone in the server. */
export interface RequestCalls {
  calls: CallOut[];
  /** Calls beyond the limit, which are counted and not described. */
  more: number;
  /** Time from the arrival of the request to the end of its response. */
  ms: number;
}

/** Environment variable with the path of the socket where the preload reports. */
export const callsName = 'REDLINE_CALLS';

/** Message to each thread of the app, one line of JSON. */
export interface CallsOrder {
  type: 'watch' | 'take';
}

/** Message from a thread of the app, one line of JSON. */
export type CallsReport = { type: 'watching' } | { type: 'calls'; requests: RequestCalls[] };
