import { Inject, Injectable, Scope, type FactoryProvider } from '@nestjs/common';
import { unobserved } from '@redline/response-cache';
import type { Bindings, Logger } from 'pino';
import { noRequestError } from './errors.ts';
import { LoggerCore, type RunInContextOptions } from './logger-core.ts';
import type { LevelName } from './request-log.ts';

/**
 * pino for injection: the methods and the argument order of pino itself. Every line written during a request carries
 * its `reqId`, however deep in the code.
 *
 * @example
 * @Injectable() class Orders { readonly #logger: PinoLogger; constructor(@InjectLogger(Orders.name) logger: PinoLogger)
 * { this.#logger = logger; } place(order: Order): void { this.#logger.info({ orderId: order.id }, "order placed by %s",
 * order.customer); } }
 * @typeParam CustomLevels the names of `customLevels`, methods of `logger`
 */
@Injectable({ scope: Scope.TRANSIENT })
export class PinoLogger<CustomLevels extends string = never> {
  /**
   * The app's own pino logger, for changes at run time: `PinoLogger.root.level = 'debug'`. With several apps in one
   * process it is that of the last one; the `level` of `NestLogger` is each app's own.
   */
  static root: Logger;
  readonly #core: LoggerCore;
  #context: string | undefined;

  constructor(@Inject(LoggerCore) core: LoggerCore) {
    this.#core = core;
    PinoLogger.root = core.pino;
  }

  /** The underlying pino logger: the current request's, outside a request the app's. */
  get logger(): Logger<CustomLevels> {
    return this.#core.current as unknown as Logger<CustomLevels>;
  }

  /** Sets the origin of the lines: their field `context`. */
  setContext(context: string): void {
    this.#context = context;
  }

  /**
   * Adds fields to every later line of the current request, the response line included.
   * @throws {LoggerError} `ERR_REDLINE_LOGGER_NO_REQUEST` outside a request, or with `context: false`
   * @example logger.assign({ userId: user.id });
   */
  assign(fields: Bindings): void {
    const { work } = this.#core;
    if (work === undefined) throw noRequestError(fields);
    work.assign(fields);
  }

  /**
   * Runs a function outside a request (of a queue, a timer, a command) in its own context: `assign()` works in it,
   * after any `await`, and every line carries `bindings`.
   * @example await logger.runInContext(() => this.work(job), { bindings: { jobId: job.id } });
   */
  runInContext<Result>(run: () => Result, options: RunInContextOptions = {}): Result {
    return this.#core.runInContext(run, options);
  }

  trace(message: string, ...values: unknown[]): void;
  trace(fields: unknown, message?: string, ...values: unknown[]): void;
  trace(...args: unknown[]): void {
    this.#write('trace', args);
  }

  debug(message: string, ...values: unknown[]): void;
  debug(fields: unknown, message?: string, ...values: unknown[]): void;
  debug(...args: unknown[]): void {
    this.#write('debug', args);
  }

  info(message: string, ...values: unknown[]): void;
  info(fields: unknown, message?: string, ...values: unknown[]): void;
  info(...args: unknown[]): void {
    this.#write('info', args);
  }

  warn(message: string, ...values: unknown[]): void;
  warn(fields: unknown, message?: string, ...values: unknown[]): void;
  warn(...args: unknown[]): void {
    this.#write('warn', args);
  }

  error(message: string, ...values: unknown[]): void;
  error(fields: unknown, message?: string, ...values: unknown[]): void;
  error(...args: unknown[]): void {
    this.#write('error', args);
  }

  fatal(message: string, ...values: unknown[]): void;
  fatal(fields: unknown, message?: string, ...values: unknown[]): void;
  fatal(...args: unknown[]): void {
    this.#write('fatal', args);
  }

  #write(level: LevelName, args: unknown[]): void {
    if (!this.#core.pino.isLevelEnabled(level)) return;
    const { current: logger } = this.#core;
    // A response does not depend on logged values, such as all headers.
    unobserved(() =>
      Reflect.apply(logger[level], logger, this.#context === undefined ? args : this.#named(args)),
    );
  }

  #named(args: unknown[]): unknown[] {
    const { keys } = this.#core.options.shape;
    const context = { [keys.context]: this.#context };
    const [first, ...rest] = args;
    if (first instanceof Error) return [{ ...context, [keys.err]: first }, ...rest];
    if (typeof first === 'object') return [{ ...context, ...first }, ...rest];
    return [context, ...args];
  }
}

const names = new Set<string>();

/** Returns the injection token of `@InjectLogger(name)`, to override in a test. */
export function getLoggerToken(name: string): string {
  return `redline:logger:${name}`;
}

/**
 * Injects a `PinoLogger` whose lines carry `context: name`.
 * @example constructor(@InjectLogger(Orders.name) logger: PinoLogger) {}
 */
export function InjectLogger(name: string): ParameterDecorator & PropertyDecorator {
  names.add(name);
  return Inject(getLoggerToken(name));
}

/** Returns a provider for every name that has been requested so far. */
export function namedLoggers(): FactoryProvider<PinoLogger>[] {
  return [...names].map((name) => ({
    provide: getLoggerToken(name),
    inject: [PinoLogger],
    useFactory: (logger: PinoLogger) => {
      logger.setContext(name);
      return logger;
    },
  }));
}
