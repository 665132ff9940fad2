import type { Bindings } from 'pino';

import type { RequestLog } from './request-log.ts';

/** Names of the fields that are not the user's own. */
export interface LineKeys {
  readonly req: string;
  readonly res: string;
  readonly err: string;
  readonly reqId: string;
  readonly responseTime: string;
  readonly context: string;
}

export const DEFAULT_KEYS: LineKeys = {
  req: 'req',
  res: 'res',
  err: 'err',
  reqId: 'reqId',
  responseTime: 'responseTime',
  context: 'context',
};

/** The content of the lines of a request. */
export interface LineShape {
  readonly keys: LineKeys;
  /** The fields of the response line; `'slim'` ones are written without pino's help. */
  readonly fields: 'slim' | ((log: RequestLog) => Record<string, unknown>);
  /** The fields of every other line that is written during the request. */
  readonly bindings: (log: RequestLog) => Bindings;
  /** True if the response line carries the fields given to `assign()`. */
  readonly assigned: boolean;
  /** Returns the error for a 5xx without a thrown one. */
  readonly missingError?: (log: RequestLog) => Error | undefined;
  /** Replaces the fields, after everything else has set them. */
  readonly replace?: (log: RequestLog, line: Record<string, unknown>) => Record<string, unknown>;
}
