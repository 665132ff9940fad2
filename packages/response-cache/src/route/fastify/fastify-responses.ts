import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { sendNextAs, overrideMethods } from '../override-methods.ts';
import { jsonType, withCharset, type Headers, type ResponsePort } from '../response-port.ts';

/* Not fastify's own type: its package is not installed in an app on Express. */
interface Reply {
  readonly statusCode: number;
  readonly sent: boolean;
  readonly raw: ServerResponse;
  readonly request: { readonly method: string };
  status(code: number): unknown;
  getHeader(name: string): unknown;
  getHeaders(): Headers;
  header(name: string, value: unknown): unknown;
  removeHeader(name: string): unknown;
  serialize(value: unknown): string;
  send(payload: unknown): unknown;
}

type Hook = (
  request: unknown,
  reply: Reply,
  payload: unknown,
  done: (error: unknown, payload?: unknown) => void,
) => unknown;

export const fastifyResponses: ResponsePort<Reply> = {
  statusOf: (reply) => reply.statusCode,
  setStatus: (reply, status) => void reply.status(status),
  setNotModified(reply) {
    reply.status(304);
    reply.removeHeader('content-type');
    if (reply.request.method === 'HEAD') leaveOutLength(reply.raw);
  },
  isTaken: (reply) => reply.sent,
  isGone: ({ raw }) => raw.destroyed || raw.closed,
  setsCookie: (reply) => reply.getHeader('set-cookie') !== undefined || hasPendingCookie(reply),
  headersOf: (reply) => ({ ...reply.getHeaders() }),
  getHeader: (reply, name) => reply.getHeader(name),
  setHeader: (reply, name, value) => void reply.header(name, value),
  removeHeader: (reply, name) => void reply.removeHeader(name),
  typeAsJson(reply, body) {
    const type = reply.getHeader('content-type');
    if (type === undefined) reply.header('content-type', jsonType);
    else if (typeof body !== 'string') reply.header('content-type', withCharset(String(type)));
  },
  shape(request, reply, value) {
    const hooks = shapingHooks(request as object);
    return hooks === undefined || value === null ? value : runHooks(hooks, request, reply, value);
  },
  refuses(reply, value) {
    if (value instanceof Error) return 'its result is an Error, which Fastify handles as one';
    // That serialiser would be called with the text as well.
    if (propertyCalled(reply, 'fastify.reply.serializer') != null)
      return 'its handler calls reply.serializer()';
    const type = reply.getHeader('content-type');
    const isJson = typeof type !== 'string' || type.toLowerCase().includes('json');
    return isJson ? undefined : `its content type is ${type}, of which Fastify takes no object`;
  },
  serialize: (reply, value) => reply.serialize(value),
  send: (reply, body) => void reply.send(body),
  sendAs: sendNextAs,
  rawOf: (reply) => reply.raw,
};

/* Without a text, a HEAD route of Fastify sends the length 0, as if GET had an empty body. */
function leaveOutLength(raw: ServerResponse): void {
  const { writeHead } = raw;
  const restore = overrideMethods(raw, {
    writeHead(this: ServerResponse, status: number, headers: OutgoingHttpHeaders): ServerResponse {
      restore('writeHead');
      delete headers['content-length'];
      return writeHead.call(this, status, headers);
    },
  });
}

/* @fastify/cookie keeps cookies on the reply, and turns them into headers in onSend, which runs after the cache. */
function hasPendingCookie(reply: Reply): boolean {
  const cookies = propertyCalled(reply, 'fastify.reply.setCookies');
  return cookies instanceof Map && cookies.size > 0;
}

/* Fastify runs preSerialization only for objects: it would skip the text, and send the fields that a hook removes. */
function shapingHooks(request: object): readonly Hook[] | undefined {
  const context = propertyCalled(request, 'fastify.context') as
    | { preSerialization: readonly Hook[] | null }
    | undefined;
  return context?.preSerialization ?? undefined;
}

function propertyCalled(of: object, description: string): unknown {
  const symbol = Object.getOwnPropertySymbols(of).find((own) => own.description === description);
  return symbol === undefined ? undefined : (of as Record<symbol, unknown>)[symbol];
}

async function runHooks(
  hooks: readonly Hook[],
  request: unknown,
  reply: Reply,
  value: unknown,
): Promise<unknown> {
  let payload = value;
  for (const hook of hooks) {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const result = hook(request, reply, payload, (error, made) =>
      error ? reject(error) : resolve(made),
    );
    if (typeof (result as PromiseLike<unknown> | undefined)?.then === 'function') resolve(result);
    const made = await promise;
    if (made !== undefined) payload = made;
  }
  return payload;
}
