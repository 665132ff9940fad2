/** A request as described by a log. */
export interface LoggedRequest {
  method: string;
  /** With its query. */
  path: string;
  status?: number;
  durationMs?: number;
  /** Milliseconds since 1970. */
  time?: number;
}

/** `other`: a valid line that does not describe a finished request. */
export type ParsedLine = LoggedRequest | 'other' | 'unreadable';

/** A known shape of a line, with an example that a test reads. */
export interface LogFormat {
  name: string;
  /** The field taken as the duration and its unit, for the report; absent if the format has no duration. */
  duration?: string;
  sample: string;
  /** The request read from the sample. */
  reading: LoggedRequest;
}
