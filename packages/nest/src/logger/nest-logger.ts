import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { unobserved } from '@redline/response-cache';

import type { LineKeys } from './line-shape.ts';
import { LoggerCore } from './logger-core.ts';
import {
  isPlainObject,
  type NestCall,
  readNestCall,
  readNestErrorCall,
  resolveMessage,
  textOf,
} from './nest-call.ts';
import type { LevelName } from './request-log.ts';

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
