import type { ServerResponse } from 'node:http';

import type { LoggerCore } from './logger-core.ts';
import type { RequestLog } from './request-log.ts';

export const requestLog: unique symbol = Symbol('redline.requestLog');

/** Node's response, with the log of its request. */
export interface LoggedResponse extends ServerResponse {
  [requestLog]?: RequestLog;
}

/** Puts an exception that Nest handles on the line of the response. */
export function keepFailure(core: LoggerCore, exception: unknown, response: unknown): void {
  const log = (response as LoggedResponse | undefined)?.[requestLog];
  if (log?.root !== core.pino || log.closed) return;
  log.failure = exception;
  if (typeof exception === 'object' && exception !== null) core.carried.add(exception);
}
