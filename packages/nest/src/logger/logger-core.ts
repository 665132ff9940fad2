import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Bindings,
  type DestinationStream,
  type Logger,
  pino as createPino,
  stdTimeFunctions,
  symbols,
} from 'pino';
import { neverRejecting, warnOfFault, withoutRejection } from './callback-fault.ts';
import { openDestination, wrapStream } from './destination.ts';
import { LoggerError, optionError } from './errors.ts';
import { flushOnExit, PATIENCE_MS, type LogDestination } from './flush-on-exit.ts';
import { serializersFor } from './line/line-fields.ts';
import type { ResolvedOptions } from './options.ts';
import { createIdGenerator, isSafeId } from './request-id.ts';
import type { RequestHome, RequestLog } from './request-log.ts';

/** Options of `runInContext()`. */
export interface RunInContextOptions {
  /** Fields of every line in the context. */
  bindings?: Bindings;
  /** If true, lines also carry the fields of the request or job around it. @default false */
  inherit?: boolean;
}

/** One per app: the pino logger, its destination, and the current request. */
export class LoggerCore implements RequestHome {
  readonly options: ResolvedOptions;
  readonly pino: Logger;
  readonly destination: LogDestination;
  readonly storage: AsyncLocalStorage<RequestLog | JobLog> | undefined;
  /** Exceptions that a response line carries, so that other lines need not repeat them. */
  readonly carried: WeakSet<object> = new WeakSet();
  /** Returns an id for work without one. */
  readonly freshId: () => string;
  readonly #forget: () => void;

  constructor(options: ResolvedOptions) {
    this.options = options;
    const { pino, destination } = createRoot(options);
    this.pino = pino;
    this.destination = destination;
    this.storage = options.context ? new AsyncLocalStorage() : undefined;
    const { generate } = options.requestId;
    const own = createIdGenerator();
    this.freshId = () => {
      if (generate === undefined) return own();
      try {
        const id: unknown = withoutRejection(generate());
        if (isSafeId(id)) return id;
      } catch (error) {
        // Such work has no response that could report it, and in a timer the error would end the process.
        warnOfFault(error);
      }
      return own();
    };
    this.#forget = flushOnExit(destination, options.signals);
  }

  bindings(log: RequestLog): Bindings {
    return this.options.shape.bindings(log);
  }

  /** The logger of the current request, otherwise the app's. */
  get current(): Logger {
    return this.storage?.getStore()?.pino ?? this.pino;
  }

  /** The current request or job, if there is one and `context` is on. */
  get work(): RequestLog | JobLog | undefined {
    return this.storage?.getStore();
  }

  /** Calls the function with a logger of its own for everything it calls. */
  runInContext<Result>(
    run: () => Result,
    { bindings, inherit = false }: RunInContextOptions,
  ): Result {
    if (this.storage === undefined) return run();
    const base = inherit ? this.current : this.pino;
    return this.storage.run(new JobLog(bindings === undefined ? base : base.child(bindings)), run);
  }

  /** Writes everything; later lines are written at once. */
  async close(): Promise<void> {
    const patience = new AbortController();
    await Promise.race([
      this.destination.close(),
      sleep(PATIENCE_MS, undefined, { ref: false, signal: patience.signal }).catch(() => {}),
    ]);
    patience.abort();
    this.#forget();
  }
}

function createRoot(options: ResolvedOptions): { pino: Logger; destination: LogDestination } {
  const { level, redact, pino: rest, logger } = options;
  const { err } = options.shape.keys;
  const settings = {
    ...withSafeCallbacks(rest),
    level,
    ...(redact !== undefined && { redact: withSafeCensor(redact) }),
    ...(err !== 'err' && { errorKey: err }),
    serializers: { ...serializersFor(options.shape.keys), ...eachSafe(rest.serializers) },
  };
  if (logger !== undefined) {
    const child = logger.child({}, { level, serializers: settings.serializers });
    return { pino: child, destination: wrapStream(streamOf(child)) };
  }
  const own = rest.transport === undefined ? openDestination(options) : undefined;
  try {
    const pino = own === undefined ? createPino(settings) : createPino(settings, own.stream);
    return { pino, destination: own ?? wrapStream(streamOf(pino)) };
  } catch (cause) {
    if (cause instanceof LoggerError) throw cause;
    const error = optionError('level or pino', { level, ...rest }, 'what pino accepts');
    error.message += ` pino says: ${cause instanceof Error ? cause.message : String(cause)}`;
    error.cause = cause;
    throw error;
  }
}

/* pino does not await its callbacks, either. */
function withSafeCallbacks(given: ResolvedOptions['pino']): ResolvedOptions['pino'] {
  const { mixin, formatters, hooks, timestamp } = given;
  return {
    ...given,
    ...(mixin !== undefined && { mixin: safe(mixin) }),
    ...(formatters !== undefined && { formatters: eachSafe(formatters) }),
    ...(hooks !== undefined && { hooks: eachSafe(hooks) }),
    ...(isOwnClock(timestamp) && { timestamp: safe(timestamp) }),
  };
}

/* pino's own are recognised by their identity. */
function isOwnClock(timestamp: unknown): boolean {
  const isKnown = Object.values(stdTimeFunctions).includes(timestamp as never);
  return typeof timestamp === 'function' && !isKnown;
}

function withSafeCensor(redact: NonNullable<ResolvedOptions['redact']>): typeof redact {
  if (Array.isArray(redact)) return redact;
  const { censor } = redact as { censor?: unknown };
  return censor === undefined ? redact : { ...redact, censor: safe(censor) as never };
}

function eachSafe<Callbacks extends object>(callbacks: Callbacks): Callbacks;
function eachSafe<Callbacks extends object>(
  callbacks: Callbacks | undefined,
): Callbacks | undefined;
function eachSafe(callbacks: object | undefined): object | undefined {
  if (callbacks === undefined) return undefined;
  const all: Record<PropertyKey, unknown> = {};
  // pino has a serializer under a symbol.
  for (const name of Reflect.ownKeys(callbacks)) all[name] = safe(Reflect.get(callbacks, name));
  return all;
}

function safe<Value>(callback: Value): Value {
  return typeof callback === 'function' ? (neverRejecting(callback as never) as Value) : callback;
}

function streamOf(pino: Logger): DestinationStream {
  return Reflect.get(pino, symbols.streamSym) as DestinationStream;
}

/** The logger of work that is not a request: a queue's, a timer's, a command's. */
export class JobLog {
  #pino: Logger;

  constructor(pino: Logger) {
    this.#pino = pino;
  }

  get pino(): Logger {
    return this.#pino;
  }

  /** Adds fields to every later line of the job. */
  assign(fields: Bindings): void {
    this.#pino = this.#pino.child(fields);
  }
}
