import type { IncomingMessage } from 'node:http';

import { type Bindings, type SerializerFn, stdSerializers } from 'pino';

import { withoutRejection } from '../logger/callback-fault.ts';
import { errorOf, hasFailed } from '../logger/line/customise.ts';
import type { LineKeys, LineShape } from '../logger/line/line-shape.ts';
import type { RequestLog } from '../logger/request-log.ts';
import type { Params, PinoHttpOptions } from './params.ts';

/** Returns the content of pino-http's lines: `req` on every line of a request, `res` on that of the response. */
export function pinoHttpShape(
  { assignResponse = false }: Params,
  { quietReqLogger = false, quietResLogger = false, customProps }: PinoHttpOptions,
  { replace, keys }: LineShape,
): LineShape {
  const props = (log: RequestLog): object | undefined =>
    typeof customProps === 'function'
      ? withoutRejection(customProps(log.rawRequest as never, log.rawReply as never))
      : customProps;
  const idOf = (log: RequestLog): Bindings => (quietReqLogger ? { [keys.reqId]: log.id } : {});
  return {
    keys,
    bindings: (log) => (quietReqLogger ? idOf(log) : { [keys.req]: requestOf(log), ...props(log) }),
    fields: (log) => ({
      ...idOf(log),
      ...(!quietResLogger && { [keys.req]: requestOf(log) }),
      ...props(log),
      [keys.res]: log.rawReply,
      [keys.responseTime]: Math.round(log.elapsedMs),
    }),
    assigned: assignResponse,
    missingError: (log) => (hasFailed(log) ? errorOf(log) : undefined),
    ...(replace && { replace }),
  };
}

/** Returns Node's request with the properties that Nest's middleware finds on it. */
function requestOf(log: RequestLog): IncomingMessage {
  const { rawRequest, request } = log;
  if (request === rawRequest) return rawRequest;
  const raw = rawRequest as IncomingMessage & { id?: unknown; query?: unknown; params?: unknown };
  const { query, params } = request as { query?: unknown; params?: unknown };
  raw.id = log.id;
  raw.query = query;
  raw.params = params;
  return raw;
}

/**
 * Returns pino-http's serializers, followed by the user's own. Credentials are removed from their results unless the user
 * has configured `redact` (and so has seen the lines): pino's `redact` would walk every line for it.
 */
export function pinoHttpSerializers(
  { serializers = {}, wrapSerializers = true }: PinoHttpOptions,
  keys: LineKeys,
  censors: boolean,
): Record<string, SerializerFn> {
  const own = (name: 'req' | 'res' | 'err'): SerializerFn =>
    serializers[keys[name]] ?? serializers[name] ?? standard[name];
  const wrapped = wrapSerializers
    ? {
        [keys.req]: standard.wrapRequestSerializer(own('req')),
        [keys.res]: standard.wrapResponseSerializer(own('res')),
        [keys.err]: standard.wrapErrorSerializer(own('err')),
      }
    : {};
  const all: Record<string, SerializerFn> = { ...serializers, ...wrapped };
  if (!censors) return all;
  for (const key of [keys.req, keys.res]) {
    const serialize = all[key];
    if (serialize !== undefined) all[key] = (value: unknown) => censored(serialize(value));
  }
  return all;
}

const CREDENTIALS = ['authorization', 'proxy-authorization', 'cookie', 'set-cookie'];

function censored(serialized: unknown): unknown {
  const message = serialized as { headers?: Record<string, unknown> } | undefined;
  const headers = message?.headers;
  if (typeof headers !== 'object' || headers === null) return serialized;
  let clean: Record<string, unknown> | undefined;
  for (const name of CREDENTIALS) {
    if (headers[name] === undefined) continue;
    // A copy: these are the request's own headers.
    clean ??= { ...headers };
    clean[name] = '[Redacted]';
  }
  if (clean !== undefined) message!.headers = clean;
  return serialized;
}

type Wrap = (serializer: SerializerFn) => SerializerFn;

const standard = stdSerializers as unknown as Record<'req' | 'res' | 'err', SerializerFn> &
  Record<'wrapRequestSerializer' | 'wrapResponseSerializer' | 'wrapErrorSerializer', Wrap>;
