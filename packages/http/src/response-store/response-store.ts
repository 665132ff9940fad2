import type { Server } from 'node:http';
import type { RequestHead } from '../request/request-head.ts';
import type { StoredResponse } from './stored-response.ts';
import { toFill } from './fill.ts';
import type { EngineLines, ServerLines } from '../engine-log/engine-lines.ts';
import type { ServerLog } from '../engine-log/server-log.ts';
import type { NativeServer } from '../native/index.ts';
import { ANSWER_COUNT, OUTCOME } from '../native/wire.ts';

/** Reason why a response is not stored. */
export type Refusal =
  /** The server is not listening or is closing, Node serves it, or it limits the requests per connection. */
  | 'not-served'
  /** Only responses to GET are stored. */
  | 'method'
  /** The status is 204, 206 or 304. */
  | 'status'
  /** It has a header that the engine writes itself, or a `Content-Length` that differs from the body's. */
  | 'headers'
  | 'set-cookie'
  /** `Cache-Control` contains `private` or `no-store`. */
  | 'cache-control'
  /** The response has a `Vary` that is `*` or names a header missing in `vary`. */
  | 'vary'
  /** The request has credentials and `identify` is missing, or it lacks the value that `identify` names. */
  | 'credentials'
  /** The target, a tag or everything was dropped since the ticket was taken. */
  | 'dropped'
  /** It differs from the previous offer. */
  | 'changes'
  /** It is larger than an eighth of the store. */
  | 'large'
  /** 16 responses that differ by `vary` are in use. */
  | 'variants'
  /** The `Host` of the request is not a host with or without a port. */
  | 'host';

/** Result of `keep` and `offer`; `'first'`: the next offer is kept if it is identical. */
export type Outcome = 'kept' | 'first' | Refusal;

/** Counts since the server began to listen; threads that share a store share its counts. */
export interface ResponseStoreStats {
  /** Requests that the engine served with a stored response. */
  readonly hits: number;
  /** Hits served with a stale response. */
  readonly staleHits: number;
  /** Hits served with 304. */
  readonly notModified: number;
  /** Requests passed to JavaScript because a mebibyte of log lines waited: the reader of the log is slow or stuck. */
  readonly logFull: number;
  readonly kept: number;
  /** Responses offered for the first time. */
  readonly first: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  /** Responses removed to make room. */
  readonly evicted: number;
  /** Responses removed by `drop`, `dropTags` and `clear`. */
  readonly dropped: number;
  /** Responses kept now, and their size. */
  readonly responses: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** The responses that the engine sends without JavaScript, of one server. */
export interface ResponseStore {
  /** The log of requests that the engine serves; undefined if `log` was never called. */
  readonly lines: ServerLines | undefined;
  /**
   * Sets how they are logged. `LoggerModule` of `@redline/nest` calls it.
   *
   * @example responseStoreOf(server)?.log(engineLines(pino()));
   */
  log(lines: EngineLines | undefined): void;
  /**
   * Has the engine write the log line of a response that JavaScript sent, in the form given to `log`: if the destination
   * gathers lines, at about a fifth of pino's cost. Returns false if the application has to write it: for methods other than
   * GET and HEAD, and if the engine cannot.
   *
   * @param responseTimeMs rounded to three decimals
   * @example if (!responseStoreOf(server)?.writeLine(request, 200, 1.5)) logger.info({ statusCode: 200 }, 'request completed');
   */
  writeLine(request: RequestHead, status: number, responseTimeMs: number): boolean;
  /**
   * Takes a ticket; call it before reading any data the response is made of. Responses dropped after the ticket was taken are
   * not kept with it, whichever of the two operations finishes first.
   */
  ticket(): number;
  /**
   * Serves this response to every GET and HEAD request for the target.
   *
   * @throws As `setHeader` does, for a header that cannot be sent; TypeError for one that the engine writes itself;
   *   RangeError for an invalid status or time.
   */
  keep(request: string | RequestHead, response: StoredResponse, ticket?: number): Outcome;
  /**
   * Offers a response that was sent. It is kept if the previous one to the same request was identical, byte by byte: one
   * with a nonce, a request id or a rate limit never is.
   */
  offer(request: RequestHead, response: StoredResponse, ticket: number): Outcome;
  /** Drops every response to exactly this target, query included. */
  drop(target: string): void;
  dropTags(tags: readonly string[]): void;
  clear(): void;
  stats(): ResponseStoreStats;
}

/** Key of a server's response store; every copy of the package knows it. */
export const kResponseStore: unique symbol = Symbol.for('redline.responseStore') as never;

/**
 * Returns the store of responses that the engine sends without JavaScript: no hook and no handler runs. Undefined on servers
 * served by Node.
 *
 * @example responseStoreOf(server)?.keep('/health', { body: 'ok', freshMs: 5000 });
 */
export function responseStoreOf(server: Server): ResponseStore | undefined {
  return (server as { [kResponseStore]?: ResponseStore })[kResponseStore];
}

const NAMES: Readonly<Record<Outcome, number>> = {
  kept: OUTCOME.KEPT,
  first: OUTCOME.FIRST,
  'not-served': OUTCOME.NOT_SERVED,
  method: OUTCOME.METHOD,
  status: OUTCOME.STATUS,
  headers: OUTCOME.HEADERS,
  'set-cookie': OUTCOME.SET_COOKIE,
  'cache-control': OUTCOME.CACHE_CONTROL,
  vary: OUTCOME.VARY,
  credentials: OUTCOME.CREDENTIALS,
  dropped: OUTCOME.DROPPED,
  changes: OUTCOME.CHANGES,
  large: OUTCOME.LARGE,
  variants: OUTCOME.VARIANTS,
  host: OUTCOME.HOST,
};
const outcomes: Outcome[] = [];
for (const [name, number] of Object.entries(NAMES)) outcomes[number] = name as Outcome;

/** The parts of a server that its response store depends on. */
export interface StoreServer {
  readonly log: ServerLog;
  ticket(): number;
  /** The native server, while it listens. */
  native(): NativeServer | undefined;
  /** True if connections end after a number of requests, which JavaScript counts. */
  limitsRequests(): boolean;
}

export class EngineResponseStore implements ResponseStore {
  readonly #server: StoreServer;

  constructor(server: StoreServer) {
    this.#server = server;
  }

  get lines(): ServerLines | undefined {
    return this.#server.log.lines;
  }

  log(lines: EngineLines | undefined): void {
    this.#server.log.set(lines);
  }

  writeLine(request: RequestHead, status: number, responseTimeMs: number): boolean {
    return this.#server.log.writeLine(request, status, responseTimeMs);
  }

  ticket(): number {
    return this.#server.ticket();
  }

  keep(request: string | RequestHead, response: StoredResponse, ticket?: number): Outcome {
    return this.#fill(request, response, false, ticket);
  }

  offer(request: RequestHead, response: StoredResponse, ticket: number): Outcome {
    return this.#fill(request, response, true, ticket);
  }

  #fill(
    request: string | RequestHead,
    response: StoredResponse,
    isOffer: boolean,
    ticket: number | undefined,
  ): Outcome {
    const fill = toFill(request, response, isOffer);
    const native = this.#server.native();
    if (native === undefined) return 'not-served';
    if (this.#server.limitsRequests()) {
      native.clearStore();
      return 'not-served';
    }
    if (typeof fill === 'number') {
      native.countOutcome(fill);
      return outcomes[fill]!;
    }
    if (ticket !== undefined) fill.ticket = ticket;
    return outcomes[native.keep(fill)]!;
  }

  drop(target: string): void {
    this.#server.native()?.dropTarget(target);
  }

  dropTags(tags: readonly string[]): void {
    if (tags.length > 0) this.#server.native()?.dropTags(tags);
  }

  clear(): void {
    this.#server.native()?.clearStore();
  }

  stats(): ResponseStoreStats {
    const counts = this.#server.native()?.storeCounts() ?? [];
    const count = (index: number): number => counts[index] ?? 0;
    const refused = {} as Record<Refusal, number>;
    for (const [name, number] of Object.entries(NAMES)) {
      if (name !== 'kept' && name !== 'first') {
        refused[name as Refusal] = count(ANSWER_COUNT.OUTCOMES + number);
      }
    }
    return {
      hits: count(ANSWER_COUNT.HITS),
      staleHits: count(ANSWER_COUNT.STALE_HITS),
      notModified: count(ANSWER_COUNT.NOT_MODIFIED),
      logFull: count(ANSWER_COUNT.LOG_FULL),
      kept: count(ANSWER_COUNT.OUTCOMES + OUTCOME.KEPT),
      first: count(ANSWER_COUNT.OUTCOMES + OUTCOME.FIRST),
      refused,
      evicted: count(ANSWER_COUNT.EVICTED),
      dropped: count(ANSWER_COUNT.DROPPED),
      responses: count(ANSWER_COUNT.ANSWERS),
      bytes: count(ANSWER_COUNT.BYTES),
      maxBytes: count(ANSWER_COUNT.MAX_BYTES),
    };
  }
}
