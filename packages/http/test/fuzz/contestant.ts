import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpModule } from '../conformance/engine.ts';
import type { Case, Step } from './case.ts';
import { runStep } from './run-step.ts';

/** What a client saw, and what each handler did. */
export interface Transcript {
  /** Everything the client received, without the time of day. */
  bytes: string;
  /** How the connection ended for the client, if the server ended it. */
  end: 'open' | 'FIN' | 'reset';
  /** One list for each request a handler was called for. */
  requests: Heard[];
  /** Of `clientError`, and what nobody caught. */
  errors: string[];
  /** Something still happened when the time was up: this run says nothing. */
  isCutOff: boolean;
}

export interface Heard {
  request: string[];
  response: string[];
  steps: string[];
}

interface Running {
  case: Case;
  /** What its handlers were given: one they have paused would never hear that its client is gone. */
  sockets: Set<Socket>;
  transcript: Transcript;
  /** Handlers that go on. */
  open: number;
  quietTurns: number;
}

/** Turns of the loop in which nothing happens: the connection is at rest. By the clock a busy machine would look so too. */
const restTurns = 6;
/** The same while a handler waits: for what never comes. */
const hungTurns = 60;
const mostTurns = 2_000;

/** One of the two servers that are compared. It serves many cases at a time, each on a connection of its own. */
export class Contestant {
  readonly #server: Server;
  readonly #running = new Map<number, Running>();
  /** Ports of clients. libuv accepts one connection in a turn, so that one of many waits. */
  readonly #accepted: Set<number> | undefined;

  private constructor(http: HttpModule) {
    const onRequest = (request: IncomingMessage, response: ServerResponse): void =>
      void this.#answer(request, response);
    this.#server = http.createServer({ keepAliveTimeout: 0 }, onRequest);
    // The engine accepts all at once, and a listener would change what it does.
    if (http.createServer === createServer) {
      const accepted = (this.#accepted = new Set<number>());
      this.#server.on('connection', ({ remotePort }: Socket) => accepted.add(remotePort!));
    }
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const running = this.#running.get(socket.remotePort!);
      running?.transcript.errors.push(`clientError ${error.code}`);
      running?.sockets.add(socket);
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    });
  }

  static async start(http: HttpModule): Promise<Contestant> {
    const contestant = new Contestant(http);
    contestant.#server.listen(0, '127.0.0.1');
    await once(contestant.#server, 'listening');
    return contestant;
  }

  connections(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((_, count) => resolve(count)));
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async run(of: Case): Promise<Transcript> {
    const socket = connect((this.#server.address() as AddressInfo).port, '127.0.0.1');
    socket.setNoDelay(true);
    await once(socket, 'connect');
    const port = socket.localPort!;
    await turn();
    while (this.#accepted?.delete(port) === false) await turn();
    const transcript: Transcript = {
      bytes: '',
      end: 'open',
      requests: [],
      errors: [],
      isCutOff: false,
    };
    const running: Running = { case: of, sockets: new Set(), transcript, open: 0, quietTurns: 0 };
    this.#running.set(port, running);
    let received = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      running.quietTurns = 0;
    });
    socket.on('end', () => (transcript.end = 'FIN'));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') transcript.end = 'reset';
    });
    await send(socket, of);
    if (of.ending === 'end') socket.end();
    if (of.ending === 'destroy') socket.resetAndDestroy();
    running.quietTurns = 0;
    const isAtRest = (): boolean =>
      running.quietTurns >= (running.open > 0 ? hungTurns : restTurns);
    for (let turns = 0; turns < mostTurns && !isAtRest(); turns++) {
      await turn();
      running.quietTurns++;
    }
    transcript.isCutOff = !isAtRest();
    socket.destroy();
    // What the handlers hear of a connection that is gone.
    for (let turns = 0; turns < restTurns; turns++) await turn();
    this.#running.delete(port);
    transcript.bytes = received.replaceAll(/(?<=\r\nDate: )[^\r]*GMT/g, 'now');
    const seen = structuredClone(transcript);
    for (const each of running.sockets) each.destroy();
    return seen;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const running = this.#running.get(request.socket.remotePort!);
    if (running === undefined) return;
    running.quietTurns = 0;
    running.sockets.add(request.socket);
    const heard: Heard = { request: [], response: [], steps: [] };
    const note = (to: string[], what: string, error?: NodeJS.ErrnoException): void => {
      running.quietTurns = 0;
      to.push(error === undefined ? what : `${what} ${error.code ?? error.message}`);
    };
    const program = running.case.programs[running.transcript.requests.push(heard) - 1];
    heard.request.push(
      `${request.method} ${request.url} HTTP/${request.httpVersion} ${request.rawHeaders.join('|')}`,
    );
    for (const event of ['end', 'close', 'aborted', 'error'] as const) {
      request.on(event, (error?: NodeJS.ErrnoException) => note(heard.request, event, error));
    }
    for (const event of ['finish', 'close', 'error'] as const) {
      response.on(event, (error?: NodeJS.ErrnoException) => note(heard.response, event, error));
    }
    running.open++;
    await (program === undefined
      ? echo(request, response, heard)
      : perform(program, request, response, (text) => note(heard.steps, text)));
    running.quietTurns = 0;
    running.open--;
  }
}

async function perform(
  program: readonly Step[],
  request: IncomingMessage,
  response: ServerResponse,
  note: (text: string) => void,
): Promise<void> {
  for (const [index, step] of program.entries()) {
    await runStep(step, index, request, response, note);
  }
}

/** The answer is what was heard. */
async function echo(
  request: IncomingMessage,
  response: ServerResponse,
  heard: Heard,
): Promise<void> {
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => (body += chunk));
  await new Promise((resolve) => request.once('end', resolve).once('close', resolve));
  heard.steps.push(`body ${body}`, `trailers ${request.rawTrailers.join('|')}`);
  response.end(`${request.method} ${request.url} ${body}`);
}

async function send(socket: Socket, { bytes, cuts }: Case): Promise<void> {
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    socket.write(bytes.slice(from, cut), 'latin1');
    from = cut;
    // The servers are in this process: two turns later they have read it.
    if (from < bytes.length) for (let turns = 0; turns < 2; turns++) await turn();
  }
}

/** Sockets have been looked at when it is over: of timers alone many fire in one turn of a loop that is late. */
async function turn(): Promise<void> {
  await sleep(1);
  await new Promise((resolve) => setImmediate(resolve));
}
