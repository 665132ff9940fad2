import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callsName,
  type CallsOrder,
  type CallsReport,
  type RequestCalls,
} from './preload/protocol.ts';

/** A thread that is blocked, as an idle one of a pool may be, does not respond. */
const patienceMs = 1_000;
const pollMs = 5;
/** Number of requests: the median of these is known well enough to tell a database from a disk. */
const usualRequests = 40;
const leastRequests = 5;
const maxMs = 4_000;

interface Thread {
  socket: Socket;
  last?: CallsReport;
}

/** Accepts connections from the threads of an app, and has them record what its requests call. */
export class CallsWatch implements AsyncDisposable {
  readonly path: string;
  readonly #server: Server;
  readonly #threads = new Set<Thread>();

  private constructor(path: string, server: Server) {
    this.path = path;
    this.#server = server;
    server.on('connection', (socket) => {
      const thread: Thread = { socket };
      this.#threads.add(thread);
      socket.on('close', () => this.#threads.delete(thread));
      const lines = createInterface({ input: socket });
      // A thread that ends resets its connection; readline forwards the error.
      for (const each of [socket, lines]) each.on('error', () => {});
      lines.on('line', (line) => (thread.last = JSON.parse(line) as CallsReport));
    });
  }

  static async listen(path: string): Promise<CallsWatch> {
    const server = createServer().listen(path);
    await once(server, 'listening');
    return new CallsWatch(path, server);
  }

  /**
   * Returns the environment in which an app connects.
   * @param options Node's options so far.
   */
  environment(options: string | undefined): Record<string, string> {
    const preload = `--import=${new URL('./preload/preload.js', import.meta.url).href}`;
    return {
      NODE_OPTIONS: options ? `${options} ${preload}` : preload,
      [callsName]: this.path,
    };
  }

  /**
   * Sends requests one after the other, and returns what they called.
   * @param send Sends the request of a number, and waits for its response.
   */
  async record(
    send: (index: number) => Promise<unknown>,
    { signal, atLeast = leastRequests }: { signal: AbortSignal; atLeast?: number },
  ): Promise<RequestCalls[]> {
    await this.#ask('watch', 'watching', signal);
    const startedAt = performance.now();
    for (let sent = 0; sent < Math.max(usualRequests, atLeast); sent++) {
      signal.throwIfAborted();
      if (sent >= atLeast && performance.now() - startedAt > maxMs) break;
      await send(sent);
    }
    await this.#ask('take', 'calls', signal);
    return [...this.#threads].flatMap(({ last }) => (last?.type === 'calls' ? last.requests : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { socket } of this.#threads) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  async #ask(
    order: CallsOrder['type'],
    expected: CallsReport['type'],
    signal: AbortSignal,
  ): Promise<void> {
    for (const { socket } of this.#threads) socket.write(`${JSON.stringify({ type: order })}\n`);
    const deadline = Date.now() + patienceMs;
    while ([...this.#threads].some(({ last }) => last?.type !== expected)) {
      if (Date.now() > deadline) return;
      await sleep(pollMs, undefined, { signal });
    }
  }
}
