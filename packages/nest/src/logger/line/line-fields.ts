import type { IncomingMessage, ServerResponse } from 'node:http';

import type { FastifyReply, FastifyRequest } from 'fastify';
import { stdSerializers } from 'pino';

import type { LineKeys } from './line-shape.ts';
import type { RequestLog } from '../request-log.ts';

type Fields = Record<string, unknown>;

/** Returns the fields of `fields: "slim"`, in the order in which they are written. */
export function slimNames(keys: LineKeys): readonly string[] {
  return [keys.reqId, 'method', 'url', 'statusCode', keys.responseTime];
}

/** Returns `fields: "slim"` as an object. */
export function slimFields(keys: LineKeys): (log: RequestLog) => Fields {
  return (log) => ({
    [keys.reqId]: log.id,
    method: log.rawRequest.method,
    url: log.url,
    statusCode: statusOf(log.rawReply),
    [keys.responseTime]: roundedTime(log),
  });
}

/** Returns `fields: "full"`: the slim ones first, headers last. */
export function fullFields(keys: LineKeys): (log: RequestLog) => Fields {
  const slim = slimFields(keys);
  return (log) => {
    const { headers } = log.rawRequest;
    const answered = headersOf(log);
    return {
      ...slim(log),
      route: log.route,
      remoteAddress: log.ip,
      remotePort: log.rawRequest.socket?.remotePort,
      host: log.host,
      userAgent: headers['user-agent'],
      requestLength: lengthIn(headers),
      responseLength: lengthIn(answered),
      [keys.req]: { headers },
      [keys.res]: { headers: answered },
    };
  };
}

/** Returns the status that was sent; `null` if the connection was gone before that. */
export function statusOf(response: ServerResponse): number | null {
  return response.headersSent ? response.statusCode : null;
}

/** Returns milliseconds with three decimals: more digits cost time and carry no information. */
function roundedTime(log: RequestLog): number {
  return Math.round(log.elapsedMs * 1000) / 1000;
}

// Fastify keeps headers of its own until it sends them.
function headersOf(log: RequestLog): Fields {
  return (log.reply as { getHeaders(): Fields }).getHeaders();
}

function lengthIn(headers: Fields): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** Returns pino serializers for `logger.info({ req, res, err })` with Fastify's objects, Express's or Node's. */
export function serializersFor(keys: LineKeys): Record<string, (value: unknown) => unknown> {
  return {
    [keys.req]: serializeRequest,
    [keys.res]: serializeReply,
    [keys.err]: stdSerializers.err as (value: unknown) => unknown,
  };
}

function serializeRequest(value: unknown): unknown {
  const request = value as Partial<FastifyRequest>;
  if (request?.raw === undefined) return isNodes(value) ? stdSerializers.req(value) : value;
  return {
    id: request.id,
    method: request.raw.method,
    url: request.raw.url,
    headers: request.headers,
    remoteAddress: request.ip,
  };
}

function serializeReply(value: unknown): unknown {
  const reply = value as Partial<FastifyReply>;
  if (reply?.raw === undefined) return isNodes(value) ? stdSerializers.res(value as never) : value;
  return { statusCode: reply.raw.statusCode, headers: reply.getHeaders?.() };
}

/** Returns true for an object of Express or Node: written unchanged, it would include its sockets and parsers. */
function isNodes(value: unknown): value is IncomingMessage {
  return typeof (value as Partial<IncomingMessage> | undefined)?.on === 'function';
}
