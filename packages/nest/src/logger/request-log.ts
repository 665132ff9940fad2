import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Bindings, ChildLoggerOptions, Logger } from 'pino';

/** pino's levels, as methods. */
export type LevelName = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What a pino level method takes: an object or an error first, then a message and its values. */
export type LogArguments = unknown[];

/**
 * The logger of one request: `request.log` and `reply.log`, the value in the
 * `AsyncLocalStorage`, and what the response line is written from. Made for every request, so it
 * holds references only; the pino child behind it is made with its first line.
 */
export class RequestLog {
  /** The app's own logger. */
  readonly root: Logger;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Whether the response line was written, or left out on purpose. */
  closed = false;
  /** What made the response fail, if anything did. */
  failure: unknown = undefined;
  /** What `assign()` has gathered. */
  fields: Bindings | undefined = undefined;
  #child: Logger | undefined = undefined;
  #level: string | undefined = undefined;

  constructor(root: Logger, request: FastifyRequest, reply: FastifyReply) {
    this.root = root;
    this.request = request;
    this.reply = reply;
  }

  /** The pino logger of the request. */
  get pino(): Logger {
    return (this.#child ??= this.root.child(
      { reqId: this.request.id, ...this.fields },
      this.#level === undefined ? undefined : { level: this.#level },
    ));
  }

  /** Adds fields to every later line of the request, the response line included. */
  assign(fields: Bindings): void {
    this.fields = { ...this.fields, ...fields };
    // Made anew rather than added to: pino would write a field that is assigned twice twice.
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
    if (this.isLevelEnabled(level)) Reflect.apply(this.pino[level], this.pino, args);
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

/** The class of the app's request logs: with a method for each custom level, as pino's own loggers have. */
export function requestLogOf(root: Logger): typeof RequestLog {
  const custom = Object.keys(root.levels.values).filter(
    (level) => !(level in RequestLog.prototype),
  );
  if (custom.length === 0) return RequestLog;
  class CustomRequestLog extends RequestLog {}
  for (const level of custom) {
    Object.defineProperty(CustomRequestLog.prototype, level, {
      value(this: RequestLog, ...args: LogArguments) {
        if (this.isLevelEnabled(level))
          Reflect.apply(Reflect.get(this.pino, level), this.pino, args);
      },
    });
  }
  return CustomRequestLog;
}

const LIFECYCLE = new Set([
  'incoming request',
  'request completed',
  'request errored',
  'stream closed prematurely',
]);

const BROKEN_STREAM = 'response terminated with an error with headers already sent';
