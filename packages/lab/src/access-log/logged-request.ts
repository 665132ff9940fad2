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

/** A format found in a log. */
export interface MetFormat {
  name: string;
  requests: number;
  /** The field that was taken as the duration. */
  duration?: string;
  /** The first line whose duration could not be read. */
  untimedSample?: string;
}

export interface LogCounts {
  lines: number;
  requests: number;
  /** Valid lines that do not describe a finished request. */
  other: number;
  unreadable: number;
  /** The first few, for messages. */
  unreadableSamples: string[];
  /** The formats of the requests, the most frequent first, with the field taken as the duration. */
  formats?: MetFormat[];
  /** Lines that end a request whose first line is missing. */
  withoutBegin?: number;
}
