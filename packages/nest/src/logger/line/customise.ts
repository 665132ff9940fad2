import type { IncomingMessage, ServerResponse } from 'node:http';

import { warnOfFault, withoutRejection } from '../callback-fault.ts';
import type { CustomLines, LineKeys, LineShape } from './line-shape.ts';
import type { RequestLog } from '../request-log.ts';

/** Returns Node's messages as pino-http leaves them: with the request's id and logger. */
export function messagesOf(log: RequestLog): [IncomingMessage, ServerResponse] {
  const request = log.rawRequest as IncomingMessage & { id?: unknown; log?: unknown };
  const reply = log.rawReply as ServerResponse & { log?: unknown };
  request.id ??= log.id;
  request.log ??= log;
  reply.log ??= log;
  return [request, reply];
}

/** Returns true if the line of the response is that of a failure. */
export function hasFailed(log: RequestLog): boolean {
  return log.failure !== undefined || log.rawReply.statusCode >= 500;
}

/** Returns the cause of the failure, always as an error. */
export function errorOf(log: RequestLog): Error {
  const { failure, rawReply } = log;
  if (failure instanceof Error) return failure;
  return failure === undefined
    ? new Error(`failed with status code ${rawReply.statusCode}`)
    : new Error(String(failure), { cause: failure });
}

/** Applies the user's own functions to the fields of a line. */
export function customised(
  { customSuccessObject, customErrorObject }: CustomLines,
  keys: LineKeys,
): Pick<LineShape, 'replace'> {
  if (customSuccessObject === undefined && customErrorObject === undefined) return {};
  return {
    replace(log, line) {
      const messages = messagesOf(log);
      try {
        const replaced = withoutRejection(
          hasFailed(log)
            ? customErrorObject?.(...messages, errorOf(log), line)
            : customSuccessObject?.(...messages, line),
        );
        return replaced === undefined ? line : { ...replaced };
      } catch (error) {
        // Thrown in a "close" listener, it would end the process.
        return { ...line, [keys.err]: error };
      }
    },
  };
}

/** The level and the message of a response line. */
export interface LineTitles {
  levelOf(log: RequestLog, aborted: boolean): string;
  messageOf(log: RequestLog, aborted: boolean): string;
}

/** Returns levels and messages, the user's own if present; `levels` are those that pino knows. */
export function createTitles(custom: CustomLines, levels: Record<string, number>): LineTitles {
  const { customLogLevel, customSuccessMessage, customErrorMessage } = custom;
  return {
    levelOf(log, aborted) {
      if (customLogLevel === undefined) return statusLevel(log, aborted);
      const level = attempt(log, () =>
        customLogLevel(...messagesOf(log), log.failure === undefined ? undefined : errorOf(log)),
      );
      const isKnown = typeof level === 'string' && (level === 'silent' || level in levels);
      return isKnown ? level : statusLevel(log, aborted);
    },
    messageOf(log, aborted) {
      const failed = hasFailed(log);
      const message = failed
        ? customErrorMessage &&
          attempt(log, () =>
            customErrorMessage(...messagesOf(log), errorOf(log), Math.round(log.elapsedMs)),
          )
        : customSuccessMessage &&
          attempt(log, () => customSuccessMessage(...messagesOf(log), Math.round(log.elapsedMs)));
      if (typeof message === 'string') return message;
      if (aborted) return 'request aborted';
      return log.rawReply.statusCode >= 500 ? 'request errored' : 'request completed';
    },
  };
}

function statusLevel(log: RequestLog, aborted: boolean): string {
  if (aborted) return log.failure === undefined ? 'warn' : 'error';
  const { statusCode } = log.rawReply;
  if (statusCode >= 500) return 'error';
  return statusCode >= 400 ? 'warn' : 'info';
}

/**
 * Calls a callback of the app. Thrown in a "close" listener, its error would end the process; it is reported on the line
 * instead, unless that has the error of the response.
 */
export function attempt<Result>(log: RequestLog, call: () => Result): Result | undefined {
  try {
    return withoutRejection(call());
  } catch (error) {
    if (log.failure === undefined) log.failure = error;
    else warnOfFault(error);
    return undefined;
  }
}
