import {
  announceOf,
  createFinish,
  keepFailure,
  requestLog,
  type LoggedResponse,
  markTransparent,
} from './logged-response.ts';
import { twiceError } from './errors.ts';
import type { LoggerCore } from './logger-core.ts';
import { onNestException } from './nest-exceptions.ts';
import { createRequestIds } from './request-id.ts';
import { requestLogOf, RequestLog } from './request-log.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';

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

/** The part of Express that is used; its types are not installed in an app on Fastify. */
export interface ExpressRequest extends IncomingMessage {
  id?: unknown;
  log?: unknown;
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly route?: { readonly path: unknown };
  readonly ip?: string | undefined;
}

export interface ExpressResponse extends ServerResponse {
  log?: unknown;
}

export class ExpressRequestLog extends RequestLog {
  declare readonly request: ExpressRequest;
  declare readonly reply: ExpressResponse;
  readonly #since: number = performance.now();

  override get id(): string {
    return this.request.id as string;
  }

  override get rawRequest(): IncomingMessage {
    return this.request;
  }

  override get rawReply(): ServerResponse {
    return this.reply;
  }

  // Express removes a router's own path from `url`.
  override get url(): string {
    return this.request.originalUrl ?? (this.request.url as string);
  }

  override get elapsedMs(): number {
    return performance.now() - this.#since;
  }

  override get route(): string | undefined {
    const { route, baseUrl = '' } = this.request;
    return typeof route?.path === 'string' ? baseUrl + route.path : undefined;
  }

  override get ip(): string | undefined {
    return this.request.ip;
  }

  override get host(): string | undefined {
    return this.request.headers.host;
  }
}
