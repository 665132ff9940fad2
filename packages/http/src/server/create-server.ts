import type {
  IncomingMessage,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import { engine, nodeOnlyOption, servedByNode } from '../engine.ts';
import { NodeServer } from '../node/node-http.ts';
import { EngineServer } from './server.ts';
import { refuseProxies, type ProxyProtocolOptions } from './proxy-options.ts';
import { noteServer } from './shared-servers.ts';

export interface EngineServerOptions<
  Request extends typeof IncomingMessage = typeof IncomingMessage,
  Response extends typeof ServerResponse<InstanceType<Request>> = typeof ServerResponse,
> extends ServerOptions<Request, Response> {
  /** Max bytes for the responses of `responseStoreOf`, 64 MiB by default. */
  responseStore?: { readonly maxBytes?: number } | undefined;
  /**
   * Parses and writes on a separate thread, so that `responseStoreOf` works while JavaScript is busy. Costs about 20 % more
   * CPU for every other request.
   * @default false
   */
  threaded?: boolean | undefined;
  /**
   * Expects connections from proxies that start with a header of the PROXY protocol, version 1 or 2: `socket.remoteAddress`
   * and the rest are the client's. Requires the native engine; without it, the option throws.
   * @example createServer({ proxyProtocol: { from: ['10.0.0.0/8'] } });
   */
  proxyProtocol?: ProxyProtocolOptions | undefined;
}

/**
 * A server with the shape of `http.createServer`: same options, events, methods and errors, and an instance of
 * `http.Server`. The native engine serves it, or Node itself if that is not possible (`engine()` reports why) or the
 * options need what only Node supports: `insecureHTTPParser`, `httpValidation` other than 'strict', `blockList`.
 *
 * @example createServer((request, response) => response.end('hello')).listen(3000);
 */
export function createServer<
  Request extends typeof IncomingMessage = typeof IncomingMessage,
  Response extends typeof ServerResponse<InstanceType<Request>> = typeof ServerResponse,
>(requestListener?: RequestListener<Request, Response>): Server<Request, Response>;
export function createServer<
  Request extends typeof IncomingMessage = typeof IncomingMessage,
  Response extends typeof ServerResponse<InstanceType<Request>> = typeof ServerResponse,
>(
  options: EngineServerOptions<Request, Response>,
  requestListener?: RequestListener<Request, Response>,
): Server<Request, Response>;
export function createServer(
  options?: ServerOptions | RequestListener | null,
  requestListener?: RequestListener,
): Server {
  if (typeof options === 'function') {
    requestListener = options;
    options = {};
  }
  const option = nodeOnlyOption(options);
  const serving = engine();
  if (serving.name === 'node' || option !== undefined) {
    refuseProxies(
      options,
      serving.name === 'node' ? serving.reason : `only Node supports ${option}`,
    );
    const server = new NodeServer(options as ServerOptions, requestListener);
    if (option !== undefined) servedByNode(server, option);
    return noted(server);
  }
  return noted(new EngineServer(options as ServerOptions, requestListener));
}

function noted(server: Server): Server {
  noteServer(server);
  return server;
}
