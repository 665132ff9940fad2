import type { IncomingMessage, ServerResponse } from 'node:http';

import { unobserved } from '@redline/response-cache';
import type { Bindings, ChildLoggerOptions, Logger } from 'pino';

/** pino's levels, as methods. */
export type LevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** The arguments of a pino level method: an object or an error first, then a message and its values. */
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
 * `AsyncLocalStorage`, and the source of the response line. Created for every request, so it
 * holds only references; its pino child is created with its first line. A class for each
 * framework supplies the values that a line takes from the framework.
 */
export abstract class RequestLog {
  readonly home: RequestHome;
  /** The framework's own objects, as handlers have them. */
  readonly request: unknown;
  readonly reply: unknown;
  /** True once the response line was written, or left out on purpose. */
  closed = false;
  /** True if the failure is on the line regardless of the status. */
  insisted = false;
  /** The reason why the response failed, if it did. */
  failure: unknown = undefined;
  /** The fields given to `assign()`. */
  fields: Bindings | undefined = undefined;
  /** True if the request belongs to the routes that have a line; only used if routes are chosen. */
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
  /** The URL as the client sent it. */
  abstract get url(): string;
  /** Milliseconds since the request arrived. */
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
    // Created again instead of extended: pino would write a field twice that is assigned twice.
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
    // A response does not depend on logged values, such as all headers.
    unobserved(() => Reflect.apply(this.pino[level], this.pino, args));
  }

  /**
   * Returns true for Fastify's own lines about the request. Fastify writes them to
   * `reply.log` even while its logger is off (where they are discarded), and the response line
   * replaces them; the error is kept for it.
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

/** Returns the class of the app's request logs: with a method for each custom level, as pino's own loggers have. */
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
