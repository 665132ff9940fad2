import { AsyncLocalStorage } from 'node:async_hooks';
import { channel } from 'node:diagnostics_channel';
import { IncomingMessage, ServerResponse, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { Shared } from '../answer/answer.ts';
import {
  type AnswerOptions,
  type Outcome,
  type Producer,
  Unshared,
  unshared,
} from '../answer/answer-options.ts';
import type { CachedRoute, CacheRequest } from './cached-route.ts';

/* The request that finds an old response has its own context, which a renewal after its response is not part of. */
const outside = AsyncLocalStorage.snapshot();

/* The key of `defer.after` of @redline/defer, if an app has it: recognised by its name alone. */
const afterResponse: unique symbol = Symbol.for('redline.after-response') as never;

/* Headers for the client that sent them, not for a response made for all. */
const conditions = new Set([
  'if-none-match',
  'if-modified-since',
  'if-match',
  'if-unmodified-since',
  'if-range',
  'range',
]);

/* Channels on which Node publishes each request, ahead of everything that an app does with it. */
const starts = channel('http.server.request.start');
const finishes = channel('http.server.response.finish');

type Request = CacheRequest & { readonly raw?: IncomingMessage };

const renewals = new WeakMap<object, Renewal>();

/**
 * Returns true if the cache made this request to renew a response in the background: it runs through the whole app, and its
 * response is discarded. For loggers and limiters that must not count it.
 */
export function isRenewal(request: object): boolean {
  return renewalOf(request as Request) !== undefined;
}

export function renewalOf(request: Request): Renewal | undefined {
  return renewals.get(rawOf(request));
}

/** Returns the options for renewing a response that `request` finds outdated; undefined if that request has to wait for it. */
export function renewalOptions(
  { renew, patience }: CachedRoute,
  request: Request,
  key: string,
  response: ServerResponse,
): Pick<AnswerOptions, 'renew' | 'patience' | 'produceBehind'> | undefined {
  if (renew === undefined && patience === undefined) return undefined;
  const raw = rawOf(request);
  const { server } = (raw.socket ?? {}) as { server?: Server };
  // HTTP/2 has a different kind of request, and inject() of Fastify has no server.
  if (request.method !== 'GET' || raw.httpVersionMajor !== 1 || server === undefined)
    return undefined;
  const url = request.originalUrl;
  // Read now: after the response the client may have left, and its address is no longer known.
  const addresses = addressesOf(raw.socket);
  const produceBehind: Producer = () => {
    const begin = (): Promise<unknown> =>
      new Renewal(key).run(server, requestLike(raw, url, addresses));
    return patience === undefined ? behind(response, begin) : begin();
  };
  return { renew, patience, produceBehind };
}

/** A request that the cache makes from another, to get the result of its handler. */
export class Renewal {
  readonly #key: string;
  readonly #made: PromiseWithResolvers<unknown> = Promise.withResolvers<unknown>();

  constructor(key: string) {
    this.#key = key;
  }

  run(server: Server, request: IncomingMessage): Promise<unknown> {
    const response = new ServerResponse(request);
    response.assignSocket(request.socket);
    renewals.set(request, this);
    const news = { request, response, socket: request.socket, server };
    response.on('finish', () => {
      finishes.publish(news);
      request.socket.destroy();
    });
    // The promise is settled by now, unless something ahead of the handler has responded.
    response.on('close', () =>
      this.#made.reject(
        new Error(`something ahead of its handler answers with the status ${response.statusCode}`),
      ),
    );
    outside(() => {
      starts.publish(news);
      server.emit('request', request, response);
    });
    return this.#made.promise;
  }

  /** Runs the handler for its request, and keeps the result; returns the content of its response. */
  async make(key: string | undefined, produce: () => Promise<unknown>): Promise<Outcome> {
    try {
      const value = await produce();
      // A caller identified by time or chance may be a different one now.
      this.#made.resolve(key === this.#key ? value : unshared(undefined));
      if (value instanceof Shared) return value.details.json ?? '';
      return value instanceof Unshared ? value : (unshared(value) as Unshared);
    } catch (error) {
      this.#made.reject(error);
      throw error;
    }
  }
}

/** Runs `begin` once the response was sent, as work of `@redline/defer` if the app has that. */
function behind(response: ServerResponse, begin: () => Promise<unknown>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const run = (): Promise<void> => begin().then(resolve, reject);
  const after = (globalThis as { [afterResponse]?: (work: () => Promise<void>) => void })[
    afterResponse
  ];
  try {
    if (after === undefined) onceGone(response, () => void run());
    else after(run);
  } catch {
    // `@redline/defer` is closed, full or not set up.
    onceGone(response, () => void run());
  }
  return promise;
}

function onceGone(response: ServerResponse, then: () => void): void {
  if (response.writableFinished || response.destroyed || response.closed) {
    setImmediate(then);
    return;
  }
  let isBegun = false;
  const begin = (): void => {
    if (isBegun) return;
    isBegun = true;
    setImmediate(then);
  };
  response.once('finish', begin);
  response.once('close', begin);
}

function rawOf(request: Request): IncomingMessage {
  return request.raw ?? (request as unknown as IncomingMessage);
}

function requestLike(of: IncomingMessage, url: string, addresses: Addresses): IncomingMessage {
  const socket = new DiscardingSocket(of.socket, addresses);
  const request = new IncomingMessage(socket as unknown as Socket);
  const { rawHeaders } = of;
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!conditions.has(name.toLowerCase())) kept.push(name, rawHeaders[at + 1]!);
  }
  const headers = { ...of.headers };
  for (const name of conditions) delete headers[name];
  Object.assign(request, {
    method: 'GET',
    url,
    httpVersion: of.httpVersion,
    httpVersionMajor: of.httpVersionMajor,
    httpVersionMinor: of.httpVersionMinor,
    rawHeaders: kept,
    headers,
    complete: true,
  });
  request.push(null);
  return request;
}

type Addresses = Pick<
  Socket,
  'remoteAddress' | 'remotePort' | 'remoteFamily' | 'localAddress' | 'localPort'
>;

function addressesOf(of: Socket): Addresses {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = of;
  return { remoteAddress, remotePort, remoteFamily, localAddress, localPort } as Addresses;
}

/** A connection with the client of another one, which discards everything written to it. */
class DiscardingSocket extends Duplex {
  constructor(of: Socket, addresses: Addresses) {
    super({ emitClose: true });
    const { encrypted, authorized, server } = of as unknown as Record<string, unknown>;
    Object.assign(this, addresses, { encrypted, authorized, server });
    for (const name of ['getPeerCertificate', 'getPeerX509Certificate', 'address'] as const) {
      const own = (of as unknown as Record<string, unknown>)[name];
      if (typeof own === 'function') Object.assign(this, { [name]: own.bind(of) });
    }
    for (const name of ['setTimeout', 'setNoDelay', 'setKeepAlive', 'ref', 'unref'])
      Object.assign(this, { [name]: () => this });
    this.on('error', () => {});
  }

  destroySoon(): void {
    this.destroy();
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
}
