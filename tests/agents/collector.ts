import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, inflateSync } from 'node:zlib';

type Fields = Record<string, unknown>;

/** The server that agents send to: the intakes of Datadog (MessagePack) and Elastic (a line of JSON for each event). */
export class Collector implements AsyncDisposable {
  readonly spans: Fields[] = [];
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async listen(): Promise<Collector> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', headers } = request;
    const isElastic = url.startsWith('/intake/v2/events');
    let bytes: Buffer;
    try {
      bytes = await buffer(request);
    } catch {
      // The process ended.
      return;
    }
    if (headers['content-encoding'] === 'gzip') bytes = gunzipSync(bytes);
    if (headers['content-encoding'] === 'deflate') bytes = inflateSync(bytes);
    if (isElastic) {
      for (const line of bytes.toString().split('\n')) {
        if (line !== '') this.spans.push(JSON.parse(line) as Fields);
      }
    } else if (url.startsWith('/v0.4/traces')) {
      this.spans.push(...(decode(bytes) as Fields[][]).flat());
    }
    response.setHeader('content-type', 'application/json');
    response.end('{"version":"8.12.0","rate_by_service":{}}');
  }
}

/** Of the suite's own packages. */
function decode(bytes: Buffer): unknown {
  const require = createRequire(import.meta.url);
  return (require('@msgpack/msgpack') as { decode(bytes: Buffer): unknown }).decode(bytes);
}
