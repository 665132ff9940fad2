import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A request that a receiver has taken. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A receiver of OTLP on loopback that responds as a test wants. */
export class Receiver {
  readonly received: Received[] = [];
  /** Responds to a request that has been read. */
  respond: (response: ServerResponse, received: Received) => void = (response) => {
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
  };
  #server: Server | undefined;
  #port = 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, at the port it had before. */
  async start(): Promise<this> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const whole = Buffer.concat(chunks);
        const { url, headers } = request;
        const body = headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole;
        const received = { path: url!, headers, body };
        this.received.push(received);
        this.respond(response, received);
      });
    });
    this.#server = server;
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Resolves when the next request has been read. */
  async next(): Promise<void> {
    const { respond } = this;
    await new Promise<void>((resolve) => {
      this.respond = (...given) => {
        this.respond = respond;
        resolve();
        respond(...given);
      };
    });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
}
