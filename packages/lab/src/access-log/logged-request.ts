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
