import type { FastifyReply, FastifyRequest } from 'fastify';

import type { LineFields } from './options.ts';

/** The fields of `fields: "slim"`, in the order they are written in. */
export const SLIM_FIELDS: readonly string[] = [
  'reqId',
  'method',
  'url',
  'statusCode',
  'responseTime',
];

/** `fields: "slim"` as an object. */
export const slimFields: LineFields = (request, reply) => ({
  reqId: request.id,
  method: request.raw.method,
  url: request.raw.url,
  statusCode: statusOf(reply),
  responseTime: roundedTime(reply),
});

/** `fields: "full"`: the slim ones first, headers last. */
export const fullFields: LineFields = (request, reply) => {
  const { headers } = request;
  const answered = headersOf(reply);
  return {
    ...slimFields(request, reply),
    route: request.routeOptions?.url,
    remoteAddress: request.ip,
    remotePort: request.raw.socket?.remotePort,
    host: request.host,
    userAgent: headers['user-agent'],
    requestLength: lengthIn(headers),
    responseLength: lengthIn(answered),
    req: { headers },
    res: { headers: answered },
  };
};

/** The status that was sent; `null` if the connection was gone before one was. */
export function statusOf(reply: FastifyReply): number | null {
  return reply.raw.headersSent ? reply.raw.statusCode : null;
}

/** Milliseconds with three decimals: more digits cost time and say nothing. */
function roundedTime(reply: FastifyReply): number {
  return Math.round(reply.elapsedTime * 1000) / 1000;
}

function headersOf(reply: FastifyReply): Record<string, unknown> {
  return reply.getHeaders();
}

function lengthIn(headers: Record<string, unknown>): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** pino serializers for `logger.info({ req, res })` with Fastify's objects or Node's. */
export const serializers: Record<string, (value: unknown) => unknown> = {
  req: (value) => {
    const request = value as Partial<FastifyRequest>;
    if (request?.raw === undefined) return value;
    return {
      id: request.id,
      method: request.raw.method,
      url: request.raw.url,
      headers: request.headers,
      remoteAddress: request.ip,
    };
  },
  res: (value) => {
    const reply = value as Partial<FastifyReply>;
    if (reply?.raw === undefined) return value;
    return { statusCode: reply.raw.statusCode, headers: reply.getHeaders?.() };
  },
};
