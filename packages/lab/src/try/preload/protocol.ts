/** Environment variable with the settings of the scout. */
export const environmentName = 'REDLINE_SCOUT';
/** The port a server is given, also where a script of the app sets PORT itself. */
export const portName = 'REDLINE_PORT';

/** In place of a port: the first HTTP server, of an app that finds a free port by itself, another one in each start. */
export const firstHttp = -1;

/** What is said to the process of the app, as JSON. */
export interface ScoutSettings {
  /** The port, or the Unix socket, an app insists on, or {@link firstHttp}: it gets its own port instead. Every other fixed one becomes a free one. */
  main?: number | string;
  /** Where a line goes for each sighting. Absent while the app is measured. */
  file?: string;
  /** Where `@redline/http` is imported from, to ask which engine serves. */
  engine?: string;
}

export interface Listening {
  type: 'listening';
  /** What the app asked for, a port or the path of a Unix socket, and what it got. */
  asked: number | string;
  port: number;
  kind: 'http' | 'http2' | 'tls' | 'other';
  node: string;
  /** Why the native engine does not serve; absent where it does, or was not asked for. */
  leftToNode?: string;
  /** Paths of GET routes as the framework has them, as far as it shows them. */
  routes: string[];
  /** As far as it can be seen, e.g. `Express`. */
  framework?: string;
}

/** The app started a process. */
export interface ChildStarted {
  type: 'child';
}

export type Sighting = Listening | ChildStarted;
