import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifyBaseLogger } from 'fastify';
import {
  announceOf,
  keepFailure,
  requestLog,
  type LoggedResponse,
  markTransparent,
  createFinish,
  type Finish,
} from './logged-response.ts';
import { requestIdError, twiceError } from './errors.ts';
import { heldResponseOf, takeHeldResponse } from './held-response.ts';
import type { LoggerCore } from './logger-core.ts';
import { onNestException } from './nest-exceptions.ts';
import { createRequestIds } from './request-id.ts';
import { requestLogOf, RequestLog } from './request-log.ts';
import type { Logger } from 'pino';

type Done = (error?: Error) => void;
type RequestHook = (request: FastifyRequest, reply: FastifyReply, done: Done) => void;

/** The part of Nest's `FastifyAdapter` that is used. */
export interface FastifyAdapterLike {
  getInstance(): FastifyInstance;
  setOnRequestHook(hook: RequestHook): void;
}

const attached = new WeakSet<FastifyInstance>();

/** Adds request ids, request loggers and response lines to Fastify; returns a function that detaches them. */
export function attachToFastify(adapter: FastifyAdapterLike, core: LoggerCore): () => void {
  const fastify = adapter.getInstance();
  const { requestIdHeader } = fastify.initialConfig;
  if (attached.has(fastify)) throw twiceError();
  const { requestId, requests } = core.options;
  if (typeof requestIdHeader === 'string' && !requestId.isFastifys)
    throw requestIdError(requestIdHeader);
  attached.add(fastify);
  if (!requestId.isFastifys) fastify.setGenReqId(neverThrowing(createRequestIds(requestId)));
  silenceFastify(fastify, core.pino);
  const finish = requests === 'off' ? undefined : createFinish(core);
  const begin = createBegin(core, finish);
  // Ahead of Nest's middleware: a hook added to the instance would run after it.
  adapter.setOnRequestHook(markTransparent(begin));
  if (core.storage !== undefined) reenterContext(fastify, core, begin);
  return finish === undefined ? () => {} : watchResponses(fastify, core, finish);
}

/* Fastify has no request yet that could fail with the error: it would end the process. */
function neverThrowing(make: (request: IncomingMessage) => string): typeof make {
  let failures = 0;
  return (request) => {
    try {
      return make(request);
    } catch (error) {
      heldResponseOf(request).failure = error;
      return `failed-${(failures += 1)}`;
    }
  };
}

/* Applies the headers that the app has set while it made an id, and returns the error that it has thrown. */
function giveHeld(request: FastifyRequest, reply: FastifyReply): Error | undefined {
  const held = takeHeldResponse(request.raw);
  if (held === undefined) return undefined;
  reply.headers(held.getHeaders());
  const { failure } = held;
  if (failure === undefined || failure instanceof Error) return failure;
  return new Error(`The request id could not be made: ${String(failure)}`);
}

function createBegin(core: LoggerCore, finish: Finish | undefined): RequestHook {
  const { storage } = core;
  const { echo, make, generate } = core.options.requestId;
  const isIdMade = make !== undefined || generate !== undefined;
  const Log = requestLogOf(FastifyRequestLog, core.pino);
  const announce = announceOf(core);
  const onClose = function (this: LoggedResponse): void {
    const log = this[requestLog];
    if (log !== undefined && !log.closed) finish?.(log, true);
  };
  return (request, reply, done) => {
    const log = new Log(core, request, reply);
    const raw = reply.raw as LoggedResponse;
    raw[requestLog] = log;
    request.log = log as unknown as FastifyRequest['log'];
    reply.log = log as unknown as FastifyReply['log'];
    // Fastify's onRequestAbort misses a client that leaves after its body has been read.
    if (finish !== undefined) raw.on('close', onClose);
    if (echo !== undefined) reply.header(echo, request.id);
    announce?.(log);
    const failure = isIdMade ? giveHeld(request, reply) : undefined;
    if (storage === undefined) done(failure);
    else storage.run(log, () => done(failure));
  };
}

/** Enters the context again before handlers run: a hook that continues from a pool, a queue or a stream has left it. */
function reenterContext(fastify: FastifyInstance, core: LoggerCore, begin: RequestHook): void {
  const { storage } = core;
  const reenter: RequestHook = (request, reply, done) => {
    const log = (reply.raw as LoggedResponse)[requestLog];
    // Another library has taken the adapter's only onRequest hook.
    if (log === undefined) begin(request, reply, done);
    else if (storage?.getStore() === log) done();
    else storage?.run(log, done);
  };
  fastify.addHook('preValidation', markTransparent(reenter));
}

function watchResponses(fastify: FastifyInstance, core: LoggerCore, finish: Finish): () => void {
  const onResponse: RequestHook = (_request, reply, done) => {
    const raw = reply.raw as LoggedResponse;
    const log = raw[requestLog];
    // A response that ends in an error is left to "close"; HTTP/2 reports a response that was reset as finished.
    if (log !== undefined && !log.closed && !raw.errored) finish(log, !raw.headersSent);
    done();
  };
  fastify.addHook('onResponse', markTransparent(onResponse, 'logs'));
  fastify.addHook('onError', (_request, reply, error, done) => {
    const log = (reply.raw as LoggedResponse)[requestLog];
    if (log !== undefined) log.failure = error;
    done();
  });
  return onNestException((exception, response) =>
    keepFailure(core, exception, (response as FastifyReply | undefined)?.raw ?? response),
  );
}

const noop = (): void => {};

const silent: FastifyBaseLogger = {
  level: 'silent',
  trace: noop,
  debug: noop,
  info: noop,
  warn: noop,
  error: noop,
  fatal: noop,
  silent: noop,
  child: () => silent,
};

/**
 * If the app has turned on Fastify's own logger too, warns about it and removes its request lines:
 * each response would have three.
 */
export function silenceFastify(fastify: FastifyInstance, pino: Logger): void {
  // The default logger of Fastify consists of functions called noop.
  if (fastify.log.info.name === noop.name) return;
  pino.warn(
    "FastifyAdapter was created with its own logger; LoggerModule writes the request lines, and Fastify's are omitted. Remove `logger` from the adapter's options.",
  );
  fastify.setChildLoggerFactory(() => silent);
}

export class FastifyRequestLog extends RequestLog {
  declare readonly request: FastifyRequest;
  declare readonly reply: FastifyReply;

  override get id(): string {
    return this.request.id;
  }

  override get rawRequest(): IncomingMessage {
    return this.request.raw;
  }

  override get rawReply(): ServerResponse {
    return this.reply.raw;
  }

  override get url(): string {
    return this.request.raw.url as string;
  }

  override get elapsedMs(): number {
    return this.reply.elapsedTime;
  }

  override get route(): string | undefined {
    return this.request.routeOptions?.url;
  }

  override get ip(): string | undefined {
    return this.request.ip;
  }

  override get host(): string | undefined {
    return this.request.host;
  }
}
