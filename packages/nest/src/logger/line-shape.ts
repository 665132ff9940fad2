import type { Bindings } from 'pino';

import type { RequestLog } from './request-log.ts';

/** The names of the fields that are not the user's own. */
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

/** What the lines of a request hold. */
export interface LineShape {
  readonly keys: LineKeys;
  /** The fields of the response line; `'slim'` ones are written without pino's help. */
  readonly fields: 'slim' | ((log: RequestLog) => Record<string, unknown>);
  /** The fields of every other line that is written during the request. */
  readonly bindings: (log: RequestLog) => Bindings;
  /** Whether the response line carries what `assign()` has gathered. */
  readonly assigned: boolean;
  /** What stands for the error of a 5xx that nothing was thrown for. */
  readonly missingError?: (log: RequestLog) => Error | undefined;
  /** Has the last word on the fields. */
  readonly replace?: (log: RequestLog, line: Record<string, unknown>) => Record<string, unknown>;
}
