import type { IncomingMessage, ServerResponse } from 'node:http';
import { optionError } from '../errors.ts';
import {
  dead,
  untried,
  type BatchResults,
  type Delivery,
  type DeliveryResult,
  type Handler,
  type Sink,
  type SinkHost,
} from '../sink.ts';
import { messageOf } from '../thrown.ts';
import { handlers } from './handlers.ts';
import { refuseUnknown } from '../validate.ts';

export interface RepliesOptions {
  /**
   * The functions that produce the result of each job. It must be JSON; if one throws, the job is retried, as with
   * `handlers`.
   */
  work: Readonly<Record<string, Handler>>;
  /**
   * Time for which a result waits for its client, from the `defer()` call or from the time at which the job was due, in
   * milliseconds. After that the job is dead.
   * @default 300_000
   */
  retainMs?: number;
  /**
   * Interval between the retries of a result whose client is away, in milliseconds. A client that comes back gets its waiting
   * results at once.
   * @default 1_000
   */
  recheckMs?: number;
}

/** The part of a `ws` socket that is used; any object with it works. */
export interface ReplySocket {
  send(text: string, done: (error?: Error | null) => void): void;
  on(event: 'close', listener: () => void): unknown;
}

/** The message to a client, as JSON text. */
export interface Reply {
  /** The job's key, if the caller gave one, otherwise its id. */
  id: string;
  job: string;
  /** The value that the work returned. */
  result?: unknown;
  /** The message of an error with `retryable: false`, thrown by the work: there will be no result. */
  error?: string;
}

export interface Replies extends Sink {
  /**
   * Sends results for `client` to this socket from now on, waiting ones first, until its `close` event or the next
   * socket of the same client.
   */
  attach(client: string, socket: ReplySocket): void;
  /**
   * Delivers results over plain HTTP: responds with an array of replies as soon as there is one, or an empty one after
   * `waitMs`.
   * @param waitMs default 25_000
   */
  poll(client: string, request: IncomingMessage, response: ServerResponse, waitMs?: number): void;
}

/**
 * The client gets a response at once, and its result later over a WebSocket or over HTTP. The option `to` of the job
 * names the client. A result is kept until a socket has taken it, and is not computed twice while this process lives; a
 * client may get it twice, and recognises it by its `id`.
 *
 * @example
 * ```ts
 * const results = replies({ work: { report: (data) => buildReport(data) } });
 * sockets.on('connection', (socket, request) => results.attach(clientOf(request), socket));
 * defer(report, { month }, { sink: 'results', key: requestId, options: { to: clientId } });
 * ```
 */
export function replies(options: RepliesOptions): Replies {
  refuseUnknown<keyof RepliesOptions>('replies', options, {
    work: true,
    retainMs: true,
    recheckMs: true,
  });
  const { retainMs = 300_000, recheckMs = 1_000 } = options;
  for (const [name, value] of Object.entries({ retainMs, recheckMs })) {
    if (Number.isFinite(value) && value > 0) continue;
    throw optionError(`${name} is ${String(value)}: it must be a number of milliseconds above 0.`);
  }
  return new RepliesSink(options.work, retainMs, recheckMs);
}

interface Waiting {
  client: string;
  text: string;
  expiresAtMs: number;
  isTaken: boolean;
  /** Set while it is on its way to a socket. */
  sending?: Promise<void> | undefined;
}

interface Place {
  socket: ReplySocket;
  /** Called when the socket closes, for code that waits until it has taken something. */
  onClose: Set<() => void>;
}

class RepliesSink implements Replies {
  readonly kind = 'replies';
  readonly runsHere = true;
  readonly timesJobs = true;
  readonly #retainMs: number;
  readonly #recheckMs: number;
  readonly #workers: Sink;
  readonly #places = new Map<string, Place>();
  /** Results that have been computed, by the job's id. */
  readonly #made = new Map<string, Waiting>();
  #sweepAtMs = 0;

  constructor(work: Readonly<Record<string, Handler>>, retainMs: number, recheckMs: number) {
    this.#retainMs = retainMs;
    this.#recheckMs = recheckMs;
    const entries = Object.entries(work).map(
      ([job, handler]) => [job, this.#keepResult(handler)] as const,
    );
    this.#workers = handlers(Object.fromEntries(entries));
  }

  open(host: SinkHost): void {
    void this.#workers.open!(host);
  }

  refuses(job: string, options: Readonly<Record<string, unknown>> | undefined): string | undefined {
    const to = options?.['to'];
    if (typeof to !== 'string' || to === '') {
      return `it does not name the client of the result: options.to is ${JSON.stringify(to)}`;
    }
    return this.#workers.refuses!(job, options);
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    this.#sweep();
    const unmade = batch.filter(({ id }) => !this.#made.has(id));
    const outcome = unmade.length === 0 ? [] : await this.#workers.send(unmade, signal);
    const failed = new Map(unmade.map((delivery, index) => [delivery.id, outcome?.[index]]));
    const results = await Promise.all(
      batch.map(async (delivery): Promise<DeliveryResult> => {
        const failure = failed.get(delivery.id);
        if (failure?.kind === 'retry') return failure;
        if (failure?.kind === 'dead') {
          this.#keep(delivery, { error: messageOf(failure.error) });
        }
        return (await this.#hand(delivery)) ?? failure;
      }),
    );
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  attach(client: string, socket: ReplySocket): void {
    const place: Place = { socket, onClose: new Set() };
    this.#places.set(client, place);
    socket.on('close', () => {
      this.#detach(client, socket);
      for (const notify of place.onClose) notify();
    });
    for (const waiting of this.#made.values()) {
      if (waiting.client === client && !waiting.isTaken) void this.#push(waiting);
    }
  }

  poll(client: string, request: IncomingMessage, response: ServerResponse, waitMs = 25_000): void {
    const gathered: { text: string; done: (error?: Error) => void }[] = [];
    let isOver = false;
    const answer = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#detach(client, socket);
      const taken = gathered.splice(0);
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(`[${taken.map(({ text }) => text).join(',')}]`, () => {
        for (const { done } of taken) done();
      });
      response.once('close', () => {
        if (!response.writableFinished)
          for (const { done } of taken) done(new Error('The client left.'));
      });
    };
    const timer = setTimeout(answer, waitMs);
    const socket: ReplySocket = {
      send: (text, done) => {
        if (isOver) {
          done(new Error('This poll has its response.'));
          return;
        }
        // Results that are ready by then are sent along.
        if (gathered.push({ text, done }) === 1) setImmediate(answer);
      },
      on: () => undefined,
    };
    request.once('close', () => {
      if (!response.writableEnded && response.destroyed) answer();
    });
    this.attach(client, socket);
  }

  #keepResult(handler: Handler): Handler {
    return async (data, delivery: Delivery, signal) => {
      this.#keep(delivery, { result: await handler(data, delivery, signal) });
    };
  }

  #keep(delivery: Delivery, outcome: { result: unknown } | { error: string }): void {
    const reply = { id: delivery.key ?? delivery.id, job: delivery.job, ...outcome };
    this.#made.set(delivery.id, {
      client: String(delivery.options?.['to']),
      text: JSON.stringify(reply),
      expiresAtMs: (delivery.runAtMs ?? delivery.deferredAtMs) + this.#retainMs,
      isTaken: false,
    });
  }

  /** Sends the result to the client, if it is connected. */
  async #hand(delivery: Delivery): Promise<DeliveryResult> {
    const waiting = this.#made.get(delivery.id)!;
    if (!waiting.isTaken) await this.#push(waiting);
    if (waiting.isTaken) {
      this.#made.delete(delivery.id);
      return undefined;
    }
    const away = new Error(`The client "${waiting.client}" is away.`);
    // `retainMs` limits how long it waits, not how often a job may fail.
    if (Date.now() < waiting.expiresAtMs) return untried(away, this.#recheckMs);
    this.#made.delete(delivery.id);
    return dead(away);
  }

  #push(waiting: Waiting): Promise<void> {
    const place = this.#places.get(waiting.client);
    if (place === undefined) return Promise.resolve();
    waiting.sending ??= sendOver(place, waiting).finally(() => (waiting.sending = undefined));
    return waiting.sending;
  }

  #detach(client: string, socket: ReplySocket): void {
    if (this.#places.get(client)?.socket === socket) this.#places.delete(client);
  }

  /** Removes results whose jobs went elsewhere, for example to the dead letters after too many attempts. */
  #sweep(): void {
    const now = Date.now();
    if (now < this.#sweepAtMs) return;
    this.#sweepAtMs = now + this.#retainMs;
    for (const [id, { expiresAtMs }] of this.#made) {
      if (expiresAtMs + this.#retainMs < now) this.#made.delete(id);
    }
  }
}

/** Resolves when the socket has taken it, or will not. */
function sendOver({ socket, onClose }: Place, waiting: Waiting): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  onClose.add(resolve);
  try {
    socket.send(waiting.text, (error) => {
      if (error === undefined || error === null) waiting.isTaken = true;
      resolve();
    });
  } catch {
    resolve();
  }
  return promise.finally(() => onClose.delete(resolve));
}
