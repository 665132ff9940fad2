/** A request as a log tells of it. */
export interface LoggedRequest {
  method: string;
  /** With its query. */
  path: string;
  status?: number;
  durationMs?: number;
  /** Milliseconds since 1970. */
  time?: number;
}

/** `other`: a line that is in order and tells of no finished request. */
export type ParsedLine = LoggedRequest | 'other' | 'unreadable';
