import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import type { Server } from '../servers/server.ts';

interface Message {
  id?: number;
  result?: object;
  error?: { message: string };
  method?: string;
  params?: object;
}

/** The process of an inspector, for error messages. */
export interface Inspected {
  readonly hasEnded: boolean;
  ended(timeoutMs: number): Promise<void>;
  failure(what: string): Promise<LabError>;
}

/** Sends commands to one JavaScript thread. */
export interface InspectorSession {
  /** @throws {LabError} ERR_REDLINE_SERVER when the server has ended, ERR_REDLINE_PROFILE when the inspector refuses */
  ask<Result extends object>(method: string, params?: object): Promise<Result>;
}

/** A worker thread of an inspected process. */
export interface WorkerSession extends InspectorSession {
  /** Node's own number for the thread, from 1. */
  id: string;
  /** URL of its script. */
  url: string;
}

/** A connection to the inspector of a process: a server started with `--inspect`, or one of its processes. */
export class Inspector implements InspectorSession, Disposable {
  readonly #server: Inspected;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (reply: Message) => void>();
  readonly #workers = new Map<string, WorkerSession>();
  readonly #listeners = new Map<string, (params: object) => void>();
  #sent = 0;

  private constructor(server: Inspected, socket: WebSocket) {
    this.#server = server;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#take(String(data), ''));
    socket.addEventListener('close', () => {
      for (const key of this.#waiting.keys()) this.#resolve(key, closed);
    });
  }

  /** Reads the inspector's address, which Node writes to its standard error before it runs anything. */
  static async attach(server: Server, signal: AbortSignal): Promise<Inspector> {
    for (let tries = 0; tries < 400; tries++) {
      const url = /Debugger listening on (ws:\S+)/.exec(await server.stderr())?.[1];
      if (url !== undefined) return Inspector.connect(server, url, signal);
      if (server.hasEnded) throw await server.failure('did not start: it exited');
      await sleep(25, undefined, { signal });
    }
    throw await server.failure('did not open its inspector');
  }

  /** @param url Such as `ws://127.0.0.1:9229/…`. */
  static async connect(server: Inspected, url: string, signal: AbortSignal): Promise<Inspector> {
    return new Inspector(server, await connect(url, signal));
  }

  /** Calls the listener for each event of a name, from the main thread. A later listener replaces it. */
  on<Params extends object>(event: string, listener: (params: Params) => void): void {
    this.#listeners.set(event, listener as (params: object) => void);
  }

  /**
   * Waits for the next event of a name, from the main thread.
   * @throws {LabError} ERR_REDLINE_SERVER, ERR_REDLINE_PROFILE when the connection ends before it
   */
  async next<Params extends object>(event: string): Promise<Params> {
    return this.#resultOf(event, await this.#replyTo(event));
  }

  async ask<Result extends object>(method: string, params: object = {}): Promise<Result> {
    return this.#resultOf(method, await this.#send('', method, params));
  }

  /** Returns the worker threads of the process; none before Node 10.12. */
  async workers(): Promise<WorkerSession[]> {
    await this.#send('', 'NodeWorker.enable', { waitForDebuggerOnStart: false });
    return [...this.#workers.values()];
  }

  #take(text: string, session: string): void {
    const message = JSON.parse(text) as Message;
    if (message.method === undefined) {
      this.#resolve(keyOf(session, message.id ?? 0), message);
      return;
    }
    const { method, params = {} } = message;
    if (session === '') {
      this.#listeners.get(method)?.(params);
      this.#resolve(method, { result: params });
    }
    this.#hear(method, params);
  }

  #resolve(key: string, reply: Message): void {
    const resolve = this.#waiting.get(key);
    this.#waiting.delete(key);
    resolve?.(reply);
  }

  /** @param key Key of a command, or the name of an event. */
  #replyTo(key: string): Promise<Message> {
    return this.#socket.readyState === WebSocket.OPEN
      ? new Promise((resolve) => this.#waiting.set(key, resolve))
      : Promise.resolve(closed);
  }

  #hear(method: string, params: object): void {
    const { sessionId, workerInfo, message } = params as {
      sessionId: string;
      workerInfo: { workerId: string; url: string };
      message: string;
    };
    if (method === 'NodeWorker.attachedToWorker') {
      this.#workers.set(sessionId, {
        id: workerInfo.workerId,
        url: workerInfo.url,
        ask: async <Result extends object>(asked: string, given: object = {}) =>
          this.#resultOf<Result>(asked, await this.#send(sessionId, asked, given)),
      });
    } else if (method === 'NodeWorker.receivedMessageFromWorker') {
      this.#take(message, sessionId);
    } else if (method === 'NodeWorker.detachedFromWorker') {
      this.#workers.delete(sessionId);
      for (const key of this.#waiting.keys()) {
        if (key.startsWith(`${sessionId} `)) this.#resolve(key, workerEnded);
      }
    }
  }

  async #resultOf<Result extends object>(
    method: string,
    { result, error }: Message,
  ): Promise<Result> {
    if (error === undefined) return result as Result;
    // The inspector ends with its process, a moment before the exit is known here.
    await this.#server.ended(500);
    if (this.#server.hasEnded) throw await this.#server.failure('ended under the load');
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `The inspector did not answer ${method}: ${error.message}.`,
    );
  }

  /** @param session Session of a worker thread; empty for the main thread. */
  #send(session: string, method: string, params: object): Promise<Message> {
    const id = ++this.#sent;
    const replied = this.#replyTo(keyOf(session, id));
    const message = JSON.stringify({ id, method, params });
    this.#socket.send(
      session === ''
        ? message
        : JSON.stringify({
            id: ++this.#sent,
            method: 'NodeWorker.sendMessageToWorker',
            params: { sessionId: session, message },
          }),
    );
    return replied;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

const closed: Message = { error: { message: 'it was closed' } };
const workerEnded: Message = { error: { message: 'its worker thread has ended' } };

function keyOf(session: string, id: number): string {
  return `${session} ${id}`;
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
