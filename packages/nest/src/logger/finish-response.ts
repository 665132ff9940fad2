import { HttpException } from '@nestjs/common';

import { warnOfFault } from './callback-fault.ts';
import { attempt, createTitles } from './customise.ts';
import type { LoggerCore } from './logger-core.ts';
import type { RequestLog } from './request-log.ts';
import { createWriteLine } from './response-line.ts';

/** Called once for every response; `aborted` is true if the connection was gone before it was sent. */
export type Finish = (log: RequestLog, aborted: boolean) => void;

/** Returns a function that writes the line of a response, if it gets one, at its level. */
export function createFinish(core: LoggerCore): Finish {
  const { ignore, share, shape, custom, routes } = core.options;
  const writeLine = createWriteLine(core.pino, shape);
  const { levelOf, messageOf } = createTitles(custom, core.pino.levels.values);
  const byDefault = routes.forRoutes === undefined;
  return (log, aborted) => {
    log.closed = true;
    const { statusCode } = log.rawReply;
    if (!aborted && statusCode < 400 && (share === 0 || (share < 1 && Math.random() >= share))) {
      return;
    }
    if (!(log.chosen ?? byDefault)) return;
    if (ignore !== undefined && attempt(log, () => ignore(log)) === true) return;
    // A NotFoundException is a valid response; an error of a library that happens to be a 4xx is worth reporting.
    const isAnswer = statusCode < 400 || log.failure instanceof HttpException;
    if (!aborted && statusCode < 500 && isAnswer && !log.insisted) log.failure = undefined;
    const level = levelOf(log, aborted);
    if (level === 'silent') return;
    try {
      writeLine(log, level, messageOf(log, aborted), aborted);
    } catch (error) {
      // A serializer, a mixin or the destination of the app: thrown in a "close" listener, it would end the process.
      warnOfFault(error);
    }
  };
}
