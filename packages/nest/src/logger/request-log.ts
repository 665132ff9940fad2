import type { IncomingMessage, ServerResponse } from 'node:http';

import { unobserved } from '@redline/response-cache';
import type { Bindings, ChildLoggerOptions, Logger } from 'pino';

/** pino's levels, as methods. */
export type LevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What a pino level method takes: an object or an error first, then a message and its values. */
export type LogArguments = unknown[];

/** The app a request belongs to. */
export interface RequestHome {
  /** The app's own logger. */
  readonly pino: Logger;
  /** The fields of every line that is written during the request. */
  bindings(log: RequestLog): Bindings;
}

/**
 * The logger of one request: `request.log` and `reply.log`, the value in the
 * `AsyncLocalStorage`, and what the response line is written from. Made for every request, so it
 * holds references only; the pino child behind it is made with its first line. What a line takes
 * from the framework, a class for each framework knows.
 */
export abstract class RequestLog {
  readonly home: RequestHome;
  /** The framework's own objects, as handlers have them. */
  readonly request: unknown;
  readonly reply: unknown;
  /** Whether the response line was written, or left out on purpose. */
  closed = false;
  /** Whether the failure is on the line whatever the status is. */
  insisted = false;
  /** What made the response fail, if anything did. */
  failure: unknown = undefined;
  /** What `assign()` has gathered. */
  fields: Bindings | undefined = undefined;
  /** Whether the request is of the routes that have a line; only looked at where routes are chosen. */
  chosen: boolean | undefined = undefined;
  #child: Logger | undefined = undefined;
  #level: string | undefined = undefined;

  constructor(home: RequestHome, request: unknown, reply: unknown) {
    this.home = home;
    this.request = request;
    this.reply = reply;
  }

  abstract get id(): string;
  /** Node's own messages. */
  abstract get rawRequest(): IncomingMessage;
  abstract get rawReply(): ServerResponse;
  /** As the client sent it. */
  abstract get url(): string;
  /** Milliseconds since the request came. */
  abstract get elapsedMs(): number;
  /** The pattern of the route. */
  abstract get route(): string | undefined;
  abstract get ip(): string | undefined;
  abstract get host(): string | undefined;

  /** The app's own logger. */
  get root(): Logger {
    return this.home.pino;
  }

  /** The pino logger of the request. */
  get pino(): Logger {
    return (this.#child ??= unobserved(() =>
      this.root.child(
        { ...this.home.bindings(this), ...this.fields },
        this.#level === undefined ? undefined : { level: this.#level },
      ),
    ));
  }

  /** Adds fields to every later line of the request, the response line included. */
  assign(fields: Bindings): void {
    this.fields = { ...this.fields, ...fields };
    // Made again rather than added to: pino would write a field that is assigned twice twice.
    this.#child = undefined;
  }

  get level(): string {
    return this.#level ?? this.root.level;
  }

  set level(level: string) {
    this.#level = level;
    this.#child = undefined;
  }

  trace(...args: LogArguments): void {
    this.#write('trace', args);
  }

  debug(...args: LogArguments): void {
    this.#write('debug', args);
  }

  info(...args: LogArguments): void {
    if (!this.#isFastifys(args)) this.#write('info', args);
  }

  warn(...args: LogArguments): void {
    if (!this.#isFastifys(args)) this.#write('warn', args);
  }

  error(...args: LogArguments): void {
    if (!this.#isFastifys(args)) this.#write('error', args);
  }

  fatal(...args: LogArguments): void {
    this.#write('fatal', args);
  }

  silent(): void {
    // pino's level below every level.
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): Logger {
    return this.pino.child(bindings, options);
  }

  bindings(): Bindings {
    return this.pino.bindings();
  }

  setBindings(bindings: Bindings): void {
    this.assign(bindings);
  }

  isLevelEnabled(level: string): boolean {
    return (this.#level === undefined ? this.root : this.pino).isLevelEnabled(level);
  }

  flush(callback?: (error?: Error) => void): void {
    this.root.flush(callback);
  }

  #write(level: LevelName, args: LogArguments): void {
    if (!this.isLevelEnabled(level)) return;
    // A response does not depend on what is logged meanwhile, such as all headers.
    unobserved(() => Reflect.apply(this.pino[level], this.pino, args));
  }

  /**
   * Whether this is a line of Fastify's own about the request. Fastify writes those to
   * `reply.log` even while its logger is off (there they go nowhere), and the response line
   * stands for them; what went wrong is kept for it.
   */
  #isFastifys(args: LogArguments): boolean {
    const [subject, message] = args;
    if (typeof subject !== 'object' || subject === null || typeof message !== 'string')
      return false;
    const { req, res, err } = subject as { req?: unknown; res?: unknown; err?: Error };
    const about = res === this.reply || req === this.request;
    if (about ? !LIFECYCLE.has(message) && message !== err?.message : message !== BROKEN_STREAM) {
      return false;
    }
    if (err !== undefined) this.failure = err;
    return true;
  }
}

type RequestLogClass = new (home: RequestHome, request: never, reply: never) => RequestLog;

/** The class of the app's request logs: with a method for each custom level, as pino's own loggers have. */
export function requestLogOf<Log extends RequestLogClass>(Base: Log, root: Logger): Log {
  const custom = Object.keys(root.levels.values).filter((level) => !(level in Base.prototype));
  if (custom.length === 0) return Base;
  class CustomRequestLog extends (Base as unknown as new (...args: never[]) => {
    isLevelEnabled(level: string): boolean;
    readonly pino: Logger;
  }) {}
  for (const level of custom) {
    Object.defineProperty(CustomRequestLog.prototype, level, {
      value(this: CustomRequestLog, ...args: LogArguments) {
        if (this.isLevelEnabled(level))
          Reflect.apply(Reflect.get(this.pino, level), this.pino, args);
      },
    });
  }
  return CustomRequestLog as unknown as Log;
}

const LIFECYCLE = new Set([
  'incoming request',
  'request completed',
  'request errored',
  'stream closed prematurely',
]);

const BROKEN_STREAM = 'response terminated with an error with headers already sent';
