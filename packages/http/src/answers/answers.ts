import type { Server } from 'node:http';
import type { Answer, AnswerRequest } from './answer.ts';
import { fillOf } from './answer-fill.ts';
import type { AnswerLines, ServerLines } from './answer-lines.ts';
import type { NativeServer } from '../native/index.ts';
import { ANSWER_COUNT, OUTCOME } from '../native/wire.ts';
import type { ServerLog } from './server-log.ts';

/** Why an answer is not kept. */
export type Refusal =
  /** The server does not listen or closes, Node serves it, or it limits the requests of a connection. */
  | 'not-served'
  /** Only answers to GET are kept. */
  | 'method'
  /** 204, 206 or 304. */
  | 'status'
  /** It has a header that the engine writes itself, or a `Content-Length` that is not the body's. */
  | 'headers'
  | 'set-cookie'
  /** `private` or `no-store`. */
  | 'cache-control'
  /** The response has a `Vary` that is `*` or names a header missing in `vary`. */
  | 'vary'
  /** The request has credentials and there is no `identify`, or it lacks what `identify` names. */
  | 'credentials'
  /** The target, a tag or everything was dropped since the ticket was taken. */
  | 'dropped'
  /** It differs from the last one that was offered. */
  | 'changes'
  /** More than an eighth of the store. */
  | 'large'
  /** 16 answers that differ by `vary` are in use. */
  | 'variants'
  /** The `Host` of the request is not a host with or without a port. */
  | 'host';

/** What became of an answer: `'first'` means that the next one is kept if it is the same. */
export type Outcome = 'kept' | 'first' | Refusal;

/** Counts since the server listens; threads that share a store share its counts. */
export interface AnswerStats {
  /** Requests that the engine answered. */
  readonly hits: number;
  /** Of those: with a stale answer. */
  readonly staleHits: number;
  /** Of those: with 304. */
  readonly notModified: number;
  /** Requests that went to JavaScript because a mebibyte of log lines waited: the reader of the log is slow or stuck. */
  readonly logFull: number;
  readonly kept: number;
  /** Offered for the first time. */
  readonly first: number;
  readonly refused: Readonly<Record<Refusal, number>>;
  /** Removed to make room. */
  readonly evicted: number;
  /** Removed by `drop`, `dropTags` and `clear`. */
  readonly dropped: number;
  /** How many are kept now, and what they take up. */
  readonly answers: number;
  readonly bytes: number;
  readonly maxBytes: number;
}

/** The answers of one server. */
export interface Answers {
  /** How requests are logged that the engine answers; undefined if nobody has called `log`. */
  readonly lines: ServerLines | undefined;
  /**
   * Says how they are logged from now on. `LoggerModule` of `@redline/nest` does that by itself.
   *
   * @example answersOf(server)?.log(engineLines(pino()));
   */
  log(lines: AnswerLines | undefined): void;
  /**
   * Has the engine write the line of a response that JavaScript has given, as `log` says: where the destination gathers lines,
   * for about a fifth of what it costs with pino. False where the application has to write it: for other methods than GET and
   * HEAD, and where the engine cannot.
   *
   * @param responseTimeMs rounded to three decimals
   * @example if (!answersOf(server)?.writeLine(request, 200, 1.5)) logger.info({ statusCode: 200 }, 'request completed');
   */
  writeLine(request: AnswerRequest, status: number, responseTimeMs: number): boolean;
  /**
   * Take it before reading anything the answer is made of. What is dropped from then on is not kept with it, however the two
   * overtake each other.
   */
  ticket(): number;
  /**
   * Gives this answer to every GET and HEAD request for the target from now on.
   *
   * @throws As `setHeader` does, for a header that cannot be sent; TypeError for one that the engine writes itself;
   *   RangeError for a status or time that cannot be.
   */
  keep(request: string | AnswerRequest, answer: Answer, ticket?: number): Outcome;
  /**
   * A response that was sent. It is kept if the last one to the same request was the same, byte by byte: one with a nonce, a
   * request id or a rate limit never is.
   */
  offer(request: AnswerRequest, answer: Answer, ticket: number): Outcome;
  /** Drops every answer to exactly this target, query included. */
  drop(target: string): void;
  dropTags(tags: readonly string[]): void;
  clear(): void;
  stats(): AnswerStats;
}

/** A server has its answers under this. Every copy of the package knows it. */
export const kAnswers: unique symbol = Symbol.for('redline.answers') as never;

/**
 * The answers that the engine gives by itself, without JavaScript: no hook and no handler runs. Undefined where Node serves.
 *
 * @example answersOf(server)?.keep('/health', { body: 'ok', freshMs: 5000 });
 */
export function answersOf(server: Server): Answers | undefined {
  return (server as { [kAnswers]?: Answers })[kAnswers];
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

/** A server, as far as its answers depend on it. */
export interface AnsweringServer {
  readonly log: ServerLog;
  ticket(): number;
  /** The native server, while it listens. */
  native(): NativeServer | undefined;
  /** Its connections end after so many requests, which JavaScript counts. */
  limitsRequests(): boolean;
}

export class ServerAnswers implements Answers {
  readonly #server: AnsweringServer;

  constructor(server: AnsweringServer) {
    this.#server = server;
  }

  get lines(): ServerLines | undefined {
    return this.#server.log.lines;
  }

  log(lines: AnswerLines | undefined): void {
    this.#server.log.set(lines);
  }

  writeLine(request: AnswerRequest, status: number, responseTimeMs: number): boolean {
    return this.#server.log.writeLine(request, status, responseTimeMs);
  }

  ticket(): number {
    return this.#server.ticket();
  }

  keep(request: string | AnswerRequest, answer: Answer, ticket?: number): Outcome {
    return this.#fill(request, answer, false, ticket);
  }

  offer(request: AnswerRequest, answer: Answer, ticket: number): Outcome {
    return this.#fill(request, answer, true, ticket);
  }

  #fill(
    request: string | AnswerRequest,
    answer: Answer,
    isOffer: boolean,
    ticket: number | undefined,
  ): Outcome {
    const fill = fillOf(request, answer, isOffer);
    const native = this.#server.native();
    if (native === undefined) return 'not-served';
    if (this.#server.limitsRequests()) {
      native.clearAnswers();
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
    this.#server.native()?.clearAnswers();
  }

  stats(): AnswerStats {
    const counts = this.#server.native()?.answerCounts() ?? [];
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
      answers: count(ANSWER_COUNT.ANSWERS),
      bytes: count(ANSWER_COUNT.BYTES),
      maxBytes: count(ANSWER_COUNT.MAX_BYTES),
    };
  }
}
