import { announceOf } from './announce.ts';
import { twiceError } from './errors.ts';
import {
  ExpressRequestLog,
  type ExpressRequest,
  type ExpressResponse,
} from './express-request-log.ts';
import { createFinish } from './finish-response.ts';
import { keepFailure, requestLog, type LoggedResponse } from './logged-response.ts';
import type { LoggerCore } from './logger-core.ts';
import { onNestException } from './nest-exceptions.ts';
import { markTransparent } from './transparent-hook.ts';
import { createRequestIds } from './request-id.ts';
import { requestLogOf } from './request-log.ts';

type Middleware = (request: ExpressRequest, response: ExpressResponse, next: () => void) => void;

/** The part of Nest's `ExpressAdapter` that is used. */
export interface ExpressAdapterLike {
  getInstance(): object;
  use(middleware: Middleware): unknown;
}

const attached = new WeakSet<object>();

/**
 * Adds request ids, request loggers and response lines to Express, ahead of its body parsers and of
 * Nest's own middleware; returns a function that detaches them.
 */
export function attachToExpress(adapter: ExpressAdapterLike, core: LoggerCore): () => void {
  const express = adapter.getInstance();
  if (attached.has(express)) throw twiceError();
  attached.add(express);
  adapter.use(
    markTransparent(createMiddleware(core), core.options.requests === 'off' ? undefined : 'logs'),
  );
  if (core.options.requests === 'off') return () => {};
  return onNestException((exception, response) => keepFailure(core, exception, response));
}

function createMiddleware(core: LoggerCore): Middleware {
  const { storage } = core;
  const { requestId, requests } = core.options;
  const idOf = createRequestIds(requestId);
  const Log = requestLogOf(ExpressRequestLog, core.pino);
  const announce = announceOf(core);
  const finish = requests === 'off' ? undefined : createFinish(core);
  // One listener for both ends: "close" follows "finish" as well.
  const onClose = function (this: LoggedResponse): void {
    const log = this[requestLog];
    if (log === undefined || log.closed) return;
    log.failure ??= this.errored ?? undefined;
    finish?.(log, !this.writableFinished);
  };
  return (request, response, next) => {
    const id = idOf(request);
    request.id = id;
    const log = new Log(core, request, response);
    (response as LoggedResponse)[requestLog] = log;
    request.log = log;
    response.log = log;
    if (finish !== undefined) response.on('close', onClose);
    if (requestId.echo !== undefined) response.setHeader(requestId.echo, id);
    announce?.(log);
    if (storage === undefined) next();
    else storage.run(log, next);
  };
}
