import { HttpException } from '@nestjs/common';

import type { LoggerCore } from './logger-core.ts';
import type { RequestLog } from './request-log.ts';
import { createWriteLine } from './response-line.ts';

/** Called once for every response, with whether the connection was gone before it was sent. */
export type Finish = (log: RequestLog, aborted: boolean) => void;

/** Decides whether a response gets a line, and at which level. */
export function createFinish(core: LoggerCore): Finish {
  const { ignore, share, fields } = core.options;
  const writeLine = createWriteLine(core.pino, fields);
  return (log, aborted) => {
    log.closed = true;
    const { statusCode } = log.reply.raw;
    if (!aborted && statusCode < 400 && (share === 0 || (share < 1 && Math.random() >= share))) {
      return;
    }
    if (ignore !== undefined && isIgnored(ignore, log)) return;
    if (aborted) {
      writeLine(log, log.failure === undefined ? 'warn' : 'error', true);
    } else if (statusCode >= 500) {
      writeLine(log, 'error', false);
    } else {
      // A NotFoundException is an answer; an error of a library that happens to be a 4xx is news.
      if (statusCode < 400 || log.failure instanceof HttpException) log.failure = undefined;
      writeLine(log, statusCode >= 400 ? 'warn' : 'info', false);
    }
  };
}

function isIgnored(ignore: NonNullable<LoggerCore['options']['ignore']>, log: RequestLog): boolean {
  try {
    return ignore(log.request);
  } catch (error) {
    // Thrown in a "close" listener, it would end the process.
    log.failure ??= error;
    return false;
  }
}
