import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { unobserved } from '@redline/response-cache';
import type { LineKeys } from './line/line-shape.ts';
import { LoggerCore } from './logger-core.ts';
import type { LevelName } from './request-log.ts';
import { inspect } from 'node:util';

/**
 * Nest's logger on pino: writes the lines of Nest itself and of `new Logger("Name")` of `@nestjs/common`.
 * Takes its arguments as Nest's own `ConsoleLogger` does. Lines written during a request carry
 * its `reqId`.
 *
 * @example
 * const app = await NestFactory.create(AppModule, new FastifyAdapter(), { bufferLogs: true });
 * app.useLogger(app.get(NestLogger));
 */
@Injectable()
export class NestLogger implements LoggerService {
  readonly #core: LoggerCore;

  constructor(@Inject(LoggerCore) core: LoggerCore) {
    this.#core = core;
  }

  /** Level `info`. */
  log(message: unknown, ...rest: unknown[]): void {
    this.#write('info', [message, ...rest]);
  }

  /** Level `error`; a stack may precede the context. */
  error(message: unknown, ...rest: unknown[]): void {
    this.#write('error', [message, ...rest]);
  }

  /** Level `warn`. */
  warn(message: unknown, ...rest: unknown[]): void {
    this.#write('warn', [message, ...rest]);
  }

  /** Level `debug`. */
  debug(message: unknown, ...rest: unknown[]): void {
    this.#write('debug', [message, ...rest]);
  }

  /** Level `trace`. */
  verbose(message: unknown, ...rest: unknown[]): void {
    this.#write('trace', [message, ...rest]);
  }

  /** Level `fatal`; flushes. */
  fatal(message: unknown, ...rest: unknown[]): void {
    this.#write('fatal', [message, ...rest]);
  }

  /** The lowest level that is written; may be set while the app runs. */
  get level(): string {
    return this.#core.pino.level;
  }

  set level(level: string) {
    this.#core.pino.level = level;
  }

  #write(level: LevelName, args: unknown[]): void {
    if (!this.#core.pino.isLevelEnabled(level)) return;
    // A response does not depend on logged values, such as all headers.
    unobserved(() => this.#writeLines(level, args));
  }

  #writeLines(level: LevelName, args: unknown[]): void {
    const call =
      level === 'error' || level === 'fatal' ? readNestErrorCall(args) : readNestCall(args);
    if (reporters.has(call.context ?? '') && this.#isCarried(call.messages[0])) return;
    const logger = this.#core.current;
    const { keys } = this.#core.options.shape;
    const [first, ...others] = call.messages.map(resolveMessage);
    // An error given next to a message belongs to it, as in Nest.
    const error = others.find((message) => message instanceof Error);
    logger[level](fieldsOf(keys, call, first, error), textOf(first));
    for (const message of others) {
      if (message !== error) logger[level](fieldsOf(keys, call, message), textOf(message));
    }
  }

  /** Returns true if the line of a response already reports the exception, which Nest's handler reports as well. */
  #isCarried(exception: unknown): boolean {
    return typeof exception === 'object' && exception !== null && this.#core.carried.has(exception);
  }
}

/* Contexts of Nest's own handlers for requests, messages, sockets and timers. */
const reporters: ReadonlySet<string> = new Set([
  'ExceptionsHandler',
  'RpcExceptionsHandler',
  'WsExceptionsHandler',
  'Scheduler',
]);

function fieldsOf(
  { err, context }: LineKeys,
  call: NestCall,
  message: unknown,
  error?: unknown,
): Record<string, unknown> {
  const fields = { ...call.fields };
  if (message instanceof Error) fields[err] = message;
  else if (isPlainObject(message)) Object.assign(fields, message);
  if (error !== undefined) fields[err] ??= error;
  if (call.stack !== undefined) fields[err] ??= withStack(textOf(message) ?? '', call.stack);
  if (call.context === undefined) return fields;
  // The context comes first, and one given explicitly wins over a field of that name.
  delete fields[context];
  return { [context]: call.context, ...fields };
}

function withStack(message: string, stack: string): Error {
  const error = new Error(message);
  error.stack = stack;
  return error;
}

/** A parsed call to a method of Nest's `LoggerService`. */
export interface NestCall {
  /** One line each. */
  readonly messages: unknown[];
  /** The origin of the call. */
  readonly context: string | undefined;
  /** Plain objects given after the message. */
  readonly fields: Record<string, unknown> | undefined;
  /** The stack given to `error()` or `fatal()`. */
  readonly stack: string | undefined;
}

/**
 * Reads arguments as Nest's `ConsoleLogger` does: a string at the end is the context, plain
 * objects after the message are fields, anything else is another message.
 */
export function readNestCall(args: readonly unknown[]): NestCall {
  const last = args.length > 1 ? args.at(-1) : undefined;
  const context = typeof last === 'string' ? last : undefined;
  const rest = context === undefined ? args : args.slice(0, -1);
  const messages: unknown[] = [];
  const given: Record<string, unknown>[] = [];
  for (const [index, value] of rest.entries()) {
    if (index > 0 && isPlainObject(value)) given.push(value);
    else messages.push(value);
  }
  const fields = given.length === 0 ? undefined : Object.assign({}, ...given);
  return { messages, context, fields, stack: undefined };
}

/** Same as `readNestCall`, for `error()` and `fatal()`, which take a stack before the context. */
export function readNestErrorCall(args: readonly unknown[]): NestCall {
  const last = args.at(-1);
  if (args.length === 2 && last === undefined) return readNestCall(args.slice(0, 1));
  if (args.length > 1 && isStack(last)) {
    return { ...readNestCall(args.slice(0, -1)), stack: last };
  }
  const call = readNestCall(args);
  const stack = call.messages.at(-1);
  const isTaken = call.context !== undefined && call.messages.length > 1;
  if (!isTaken || (typeof stack !== 'string' && stack !== undefined)) return call;
  return { ...call, messages: call.messages.slice(0, -1), stack };
}

/** Returns a message as text; undefined for fields and errors, which have no text of their own. */
export function textOf(message: unknown): string | undefined {
  if (typeof message === 'string') return message;
  if (message instanceof Error || isPlainObject(message)) return undefined;
  return inspect(message, { breakLength: Infinity });
}

/** Resolves a message: functions are lazy messages in Nest; a class stands for its name. */
export function resolveMessage(message: unknown): unknown {
  if (typeof message !== 'function') return message;
  const isClass = Function.prototype.toString.call(message).startsWith('class ');
  return isClass ? message.name : resolveMessage(message());
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isStack(value: unknown): value is string {
  return typeof value === 'string' && /\n[ \t]+at .+:\d+:\d+/.test(value);
}
