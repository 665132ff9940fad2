import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { responseStoreOf, createServer, type ResponseStore } from '../../src/index.ts';
import type { EngineLines, LineSink, LineSource } from '../../src/pino.ts';

export interface Served extends AsyncDisposable {
  readonly server: Server;
  readonly port: number;
  readonly store: ResponseStore;
  /** Stores a response for the target, with a line if its log has any. */
  keep(target: string, status?: number): void;
  log(lines: EngineLines | undefined): void;
  /** One request on a connection of its own: the status of its response. */
  ask(target: string, headers?: readonly string[], method?: string): Promise<number>;
}

export async function serve(listener: RequestListener, threaded = false): Promise<Served> {
  const server = createServer({ threaded }, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const store = responseStoreOf(server)!;
  return {
    server,
    port,
    store,
    keep(target, status = 200) {
      const { line = 0 } = store.lines ?? {};
      store.keep(target, { status, body: `kept ${status}`, freshMs: 600_000, line });
    },
    log: (lines) => store.log(lines),
    async ask(target, headers = [], method = 'GET') {
      const socket = connect(port, '127.0.0.1');
      const lines = [`${method} ${target} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      return Number((await text(socket)).slice(9, 12));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A destination of pino that remembers. */
export class Lines {
  lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  taken(): string[] {
    const { lines } = this;
    this.lines = [];
    return lines;
  }
}

/** A sink that takes lines only when it is told to. */
export class PatientSink implements LineSink {
  readonly dueBytes: number;
  readonly sources: LineSource[] = [];
  readonly heard: boolean[] = [];
  readonly #bytes = Buffer.alloc(2 * 1024 * 1024);

  constructor(dueBytes: number) {
    this.dueBytes = dueBytes;
  }

  attach(source: LineSource): void {
    this.sources.push(source);
  }

  linesWait(areDue: boolean): void {
    this.heard.push(areDue);
  }

  end(): void {}

  take(): string[] {
    let taken = '';
    for (const source of this.sources) {
      for (let length; (length = source.take(this.#bytes, 0)) > 0;) {
        taken += this.#bytes.toString('utf8', 0, length);
      }
    }
    return taken.split('\n').slice(0, -1);
  }
}
