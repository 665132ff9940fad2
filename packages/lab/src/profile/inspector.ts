import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import type { Server } from '../servers/server.ts';

interface Reply {
  id?: number;
  result?: object;
  error?: { message: string };
}

/** Talks to the inspector of a server that was started with `--inspect`. */
export class Inspector implements Disposable {
  readonly #server: Server;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #sent = 0;

  private constructor(server: Server, socket: WebSocket) {
    this.#server = server;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      this.#waiting.get(reply.id ?? 0)?.(reply);
      this.#waiting.delete(reply.id ?? 0);
    });
    socket.addEventListener('close', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'it was closed' } });
      this.#waiting.clear();
    });
  }

  /** Node writes the inspector's address to its standard error before it runs anything. */
  static async attach(server: Server, signal: AbortSignal): Promise<Inspector> {
    for (let tries = 0; tries < 400; tries++) {
      const url = /Debugger listening on (ws:\S+)/.exec(await server.stderr())?.[1];
      if (url !== undefined) return new Inspector(server, await connect(url, signal));
      if (server.hasEnded) throw await server.failure('did not start: it exited');
      await sleep(25, undefined, { signal });
    }
    throw await server.failure('did not open its inspector');
  }

  /** @throws {LabError} ERR_REDLINE_SERVER when the server has ended, ERR_REDLINE_PROFILE when the inspector refuses */
  async ask<Result extends object>(method: string, params: object = {}): Promise<Result> {
    const { result, error } = await this.#reply(method, params);
    if (error === undefined) return result as Result;
    // The inspector goes with its process, a moment before the exit is known here.
    await this.#server.ended(500);
    if (this.#server.hasEnded) throw await this.#server.failure('ended under the load');
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `The inspector did not answer ${method}: ${error.message}.`,
    );
  }

  #reply(method: string, params: object): Promise<Reply> {
    // A closed socket takes what it is sent without a word.
    if (this.#socket.readyState !== WebSocket.OPEN) {
      return Promise.resolve({ error: { message: 'it was closed' } });
    }
    const id = ++this.#sent;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params }));
    return replied;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

function connect(url: string, signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    const fail = (): void =>
      reject(new LabError('ERR_REDLINE_PROFILE', `The inspector at ${url} cannot be reached.`));
    socket.addEventListener('open', () => resolve(socket));
    socket.addEventListener('error', fail);
    signal.addEventListener('abort', () => {
      socket.close();
      reject(signal.reason as Error);
    });
  });
}
