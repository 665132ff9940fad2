import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, originOf } from '../load/endpoint.ts';
import type { Exchange } from './har.ts';

/** Max number of recorded exchanges: a user sends few by hand; a test suite sends more, of which the first are enough. */
const maxExchanges = 2_000;
const maxBodyBytes = 1_000_000;

/** Proxy between the user and an app that forwards everything and records the requests. */
export class Recorder implements AsyncDisposable {
  readonly exchanges: Exchange[] = [];
  readonly #app: Endpoint;
  readonly #server = createServer((incoming, response) => this.#pass(incoming, response));

  private constructor(app: Endpoint) {
    this.#app = app;
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#upgrade(incoming, socket, head),
    );
  }

  static async start(app: Endpoint): Promise<Recorder> {
    const recorder = new Recorder(app);
    recorder.#server.listen(0, '127.0.0.1');
    await once(recorder.#server, 'listening');
    return recorder;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return originOf({ host: '127.0.0.1', port });
  }

  /** @returns when the time is over */
  async listen(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(ms, undefined, { signal });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = incoming;
    const body: Buffer[] = [];
    let bytes = 0;
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBodyBytes) body.push(chunk);
    });
    const { host, port } = this.#app;
    const outgoing = httpRequest({ host, port, method, path: url, headers }, (answer) => {
      const { statusCode: status = 0 } = answer;
      response.writeHead(status, answer.rawHeaders);
      answer.pipe(response);
      if (this.exchanges.length >= maxExchanges || bytes > maxBodyBytes) return;
      const kept = Object.entries(headers).map(([name, value]) => [
        name,
        [value].flat().join(', '),
      ]);
      this.exchanges.push({
        url: new URL(url, this.url).href,
        method,
        headers: Object.fromEntries(kept) as Record<string, string>,
        body: Buffer.concat(body).toString(),
        status,
      });
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  /** Passes WebSockets on without recording them: they have no single response. */
  #upgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const { host, port } = this.#app;
    const app = connect(port, host, () => {
      const { method, url, rawHeaders } = incoming;
      const lines = rawHeaders.flatMap((each, at) =>
        at % 2 === 0 ? [`${each}: ${rawHeaders[at + 1]}`] : [],
      );
      app.write(`${method} ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      app.write(head);
      app.pipe(socket).pipe(app);
    });
    app.on('error', () => socket.destroy());
    socket.on('error', () => app.destroy());
  }
}
