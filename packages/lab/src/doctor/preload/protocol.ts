/** Environment variable with the path of the socket where the observer reports. */
export const observerName = 'REDLINE_OBSERVER';

/** Interval between samples. */
export const profilingMicros = 500;

/** Message to each thread of the app, one line of JSON. */
export interface Order {
  type: 'start' | 'stop';
}

/** Result of `engine(server)` of @redline/http for the server under load. */
export interface Serving {
  name: 'native' | 'node' | 'none';
  /** Reason why the engine does not serve it. */
  reason?: string;
  /** Methods of node:http that other code has replaced. */
  replaced?: readonly string[];
}

/**
 * A route of @redline/response-cache, and the parts of the request, besides the URL, on which its responses were seen to depend.
 */
export interface CachedRoute {
  route: string;
  reads: readonly string[];
}

/** Message from a thread of the app, one line of JSON. */
export type Report =
  | { type: 'here'; isMainThread: boolean }
  | { type: 'started' }
  | {
      type: 'stopped';
      profile: unknown;
      /** CPU between start and stop, in microseconds. */
      process: { pid: number; cpuMicros: number };
      /** 0 is the main thread; only worker threads have a script. CPU is absent if the system does not report it by thread. */
      thread: { id: number; script?: string; cpuMicros?: number | undefined };
      /** Time the thread was ready to run without a core, in microseconds; 0 if the system does not report it. */
      waitedForCoreMicros: number;
      /** Time that the event loop was blocked, in milliseconds. */
      blockedMs: { longest: number; p99: number };
      node: string;
      /** Absent if @redline/http has not created the server. */
      serving?: Serving | undefined;
      /** Absent if @redline/response-cache is not loaded. */
      cachedRoutes?: readonly CachedRoute[] | undefined;
    };
