import type { RequestListener, Server } from 'node:http';
import http2, { type Http2Server, type SecureServerOptions } from 'node:http2';
import https, { type ServerOptions as TlsOptions } from 'node:https';
import { createServer, type EngineServerOptions } from './create-server.ts';
import { noteServer } from './shared-servers.ts';

/** The parts of Fastify's server factory options that a server depends on. */
export interface FastifyServerOptions {
  readonly http?: EngineServerOptions | null;
  readonly https?: TlsOptions | true | null;
  readonly http2?: boolean;
  /** In ms. */
  readonly http2SessionTimeout?: number;
  /** In ms, like `server.timeout`. */
  readonly connectionTimeout?: number;
  /** In ms. */
  readonly keepAliveTimeout?: number;
  /** In ms. */
  readonly requestTimeout?: number;
  /** 0 or undefined: no limit. */
  readonly maxRequestsPerSocket?: number;
}

/**
 * The `serverFactory` option of Fastify 5. Fastify's own options keep their meaning: `http`, `connectionTimeout`,
 * `keepAliveTimeout`, `requestTimeout`, `maxRequestsPerSocket`; with `https` or `http2` the server is Node's.
 *
 * @example
 * const app = fastify({ serverFactory });
 */
export function serverFactory(
  handler: (request: never, response: never) => void,
  options: object,
): Server {
  const given = options as FastifyServerOptions;
  const listener = handler as RequestListener;
  if (given.http2) return http2Server(given, listener);
  const tls = given.https === true ? {} : given.https;
  const server = tls
    ? noted(https.createServer(tls, listener))
    : createServer(given.http ?? {}, listener);
  // Fastify sets these on the servers it makes itself.
  if (given.keepAliveTimeout !== undefined) server.keepAliveTimeout = given.keepAliveTimeout;
  if (given.requestTimeout !== undefined) server.requestTimeout = given.requestTimeout;
  if (given.connectionTimeout !== undefined) server.setTimeout(given.connectionTimeout);
  if ((given.maxRequestsPerSocket ?? 0) > 0) {
    server.maxRequestsPerSocket = given.maxRequestsPerSocket!;
  }
  return server as Server;
}

function http2Server(options: FastifyServerOptions, listener: RequestListener): Server {
  const tls = options.https === true ? {} : options.https;
  const server: Http2Server = (
    tls
      ? http2.createSecureServer(tls as SecureServerOptions, listener as never)
      : http2.createServer(options.http as never, listener as never)
  ) as Http2Server;
  const { http2SessionTimeout, connectionTimeout } = options;
  if (http2SessionTimeout !== undefined) {
    server.on('session', (session) => {
      session.setTimeout(http2SessionTimeout, () => session.close());
    });
  }
  if (connectionTimeout !== undefined) server.setTimeout(connectionTimeout);
  return noted(server as never);
}

function noted<Made extends Server>(server: Made): Made {
  noteServer(server);
  return server;
}
