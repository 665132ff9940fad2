import { jsonType, type ResponsePort } from './response-port.ts';

/* Not fastify's own type: its package is not there in an app on Express. */
interface Reply {
  readonly statusCode: number;
  readonly sent: boolean;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  serialize(value: unknown): string;
}

export const fastifyResponses: ResponsePort<Reply> = {
  statusOf: (reply) => reply.statusCode,
  isTaken: (reply) => reply.sent,
  setsCookie: (reply) => reply.getHeader('set-cookie') !== undefined || hasPendingCookie(reply),
  typeAsJson(reply) {
    if (reply.getHeader('content-type') === undefined) reply.header('content-type', jsonType);
  },
  serialize: (reply, value) => reply.serialize(value),
};

/* @fastify/cookie keeps cookies on the reply, and makes them headers in onSend: after us. */
function hasPendingCookie(reply: Reply): boolean {
  return Object.getOwnPropertySymbols(reply).some((symbol) => {
    if (symbol.description !== 'fastify.reply.setCookies') return false;
    const cookies = (reply as unknown as Record<symbol, unknown>)[symbol];
    return cookies instanceof Map && cookies.size > 0;
  });
}
