/** Environment variable with the path of the socket where the observer reports. */
export const observerName = 'REDLINE_OBSERVER';

/** From one sample to the next. */
export const profilingMicros = 500;

/** What is asked of the process of the app, a line of JSON each. */
export interface Order {
  type: 'start' | 'stop';
}

/** What the `engine(server)` of @redline/http says of the server under load. */
export interface Serving {
  name: 'native' | 'node' | 'none';
  /** Why the engine does not serve it. */
  reason?: string;
  /** Methods of node:http that somebody has replaced. */
  replaced?: readonly string[];
}

/** A route of @redline/response-cache, and what its responses depend on beside the URL, as far as that was seen. */
export interface CachedRoute {
  route: string;
  reads: readonly string[];
}

/** What it says. */
export type Report =
  | { type: 'here' | 'started' }
  | {
      type: 'stopped';
      profile: unknown;
      /** CPU of the process between start and stop, in microseconds. */
      cpuMicros: number;
      /** How long the main thread could have run meanwhile and had no core, in microseconds; 0 where the system does not say. */
      waitedForCoreMicros: number;
      /** How long the event loop was not free, in milliseconds. */
      blockedMs: { longest: number; p99: number };
      node: string;
      /** Absent where @redline/http has not made the server. */
      serving?: Serving | undefined;
      /** Absent where @redline/response-cache is not loaded. */
      cachedRoutes?: readonly CachedRoute[] | undefined;
    };
