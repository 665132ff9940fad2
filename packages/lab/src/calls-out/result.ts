import type { Interval } from '../figures.ts';
import type { CallSystem } from './preload/protocol.ts';

/** Order of the calls of one request: `one` is a single call, `mixed` has some together and some after others. */
export type CallOrder = 'one' | 'one after another' | 'together' | 'mixed';

/** Time with at least one call open. */
export interface CallTimes {
  /** Part of it in which the event loop was idle. */
  waitMs: Interval;
  /** CPU of its thread meanwhile, of the driver and of the app. */
  cpuMs: Interval;
}

/** Calls of requests that were sent one after the other. Figures are medians of a request. */
export interface CallsSummary extends CallTimes {
  /** Number of requests watched. */
  requests: number;
  /** Time of a whole request in the server. */
  ms: Interval;
  /** Number of calls. */
  count: number;
  order: CallOrder;
  /** In the order of their first calls. */
  callers: CallsOfCaller[];
}

/** The calls of one stage, or of one function where there are no stages. */
export interface CallsOfCaller extends CallTimes {
  name: string;
  /** `src/price.js:41`; empty if no function of the app was on the stack. */
  place: string;
  /** Number of the cut at its entry. Absent without stages. */
  cut?: number;
  count: number;
  order: CallOrder;
  groups: CallGroup[];
}

/** A function of the app's source. */
export interface CallPlace {
  name: string;
  /** Path relative to the folder of the app, with the line: `src/orders.js:12`. */
  place: string;
  column: number;
}

/** Calls with the same statement from the same line. */
export interface CallGroup extends CallTimes {
  system: CallSystem;
  /** Without literals. */
  text: string;
  /** Function of the app that calls, and those that call it in turn. Empty if none was on the stack. */
  places: CallPlace[];
  count: number;
  order: CallOrder;
  /** Number of different values among the calls of one request. */
  distinct: number;
  /** Share of the requests with such a call. */
  share: number;
  /** Share of the calls that failed. */
  failed: number;
  explained?: Explained;
}

/** The plan of a statement, in the words of its database. */
export interface Explained {
  /** `Seq Scan on orders, no index on user_id`; the reason if it could not be explained. */
  text: string;
  isScan: boolean;
}
