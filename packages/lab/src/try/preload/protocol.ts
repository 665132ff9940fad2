/** Environment variable with the settings of the scout. */
export const environmentName = 'REDLINE_SCOUT';
/** Environment variable with the port assigned to a server, also if a script of the app sets PORT itself. */
export const portName = 'REDLINE_PORT';

/** Stands for the port of the first HTTP server, for an app that finds a free port by itself, a different one at each start. */
export const firstHttp = -1;

/** Settings passed to the process of the app, as JSON. */
export interface ScoutSettings {
  /**
   * The port or Unix socket that an app always uses, or {@link firstHttp}: it is replaced by the app's assigned port. Every other
   * fixed port is replaced by a free one.
   */
  main?: number | string;
  /** File that receives one line per sighting. Absent while the app is measured. */
  file?: string;
  /** URL of `@redline/http`, to ask it which engine serves. */
  engine?: string;
}

export interface Listening {
  type: 'listening';
  /** The port or Unix socket path that the app requested, and the port that it got. */
  asked: number | string;
  port: number;
  kind: 'http' | 'http2' | 'tls' | 'other';
  node: string;
  /** Reason why the native engine does not serve; absent if it does, or was not requested. */
  leftToNode?: string;
  /** Paths of GET routes in the framework's notation, as far as it shows them. */
  routes: string[];
  /** Framework, if it can be detected, e.g. `Express`. */
  framework?: string;
}

/** The app has started a process. */
export interface ChildStarted {
  type: 'child';
}

export type Sighting = Listening | ChildStarted;
