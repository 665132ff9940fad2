import type { ServerResponse } from 'node:http';
import type { LoggerCore } from './logger-core.ts';
import type { RequestLog } from './request-log.ts';
import { withoutRejection, warnOfFault } from './callback-fault.ts';
import { attempt, createTitles, messagesOf } from './line/customise.ts';
import { HttpException } from '@nestjs/common';
import { createWriteLine } from './line/response-line.ts';

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

/**
 * Returns a function that writes the line of an arriving request, if the user's options ask for one; if routes are chosen,
 * only Nest's middleware (`chosen`) knows which have one.
 */
export function announceOf(
  { options: { custom, routes, requests, ignore }, pino }: LoggerCore,
  chosen: boolean = false,
): ((log: RequestLog) => void) | undefined {
  const { customReceivedMessage, customReceivedObject, customLogLevel } = custom;
  if (customReceivedMessage === undefined && customReceivedObject === undefined) return undefined;
  const isChoosing = routes.exclude !== undefined || routes.forRoutes !== undefined;
  if (requests === 'off' || isChoosing !== chosen) return undefined;
  const titles = createTitles(custom, pino.levels.values);
  return (log) => {
    const level = customLogLevel === undefined ? 'info' : titles.levelOf(log, false);
    if (ignore !== undefined && attempt(log, () => ignore(log)) === true) return;
    if (level === 'silent' || !log.isLevelEnabled(level)) return;
    const messages = messagesOf(log);
    const fields = withoutRejection(customReceivedObject?.(...messages)) ?? {};
    Reflect.apply(Reflect.get(log.pino, level), log.pino, [
      fields,
      withoutRejection(customReceivedMessage?.(...messages)),
    ]);
  };
}

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

/* The same symbol as in `@redline/response-cache/route`. */
const passesAll: unique symbol = Symbol.for('redline.passes-all') as never;

/** Marks a hook that decides nothing about a response: cached ones may be sent ahead of it. */
export function markTransparent<Hook extends object>(hook: Hook, does?: 'logs'): Hook {
  return Object.assign(hook, { [passesAll]: does ?? true });
}
