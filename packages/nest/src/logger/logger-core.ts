import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

import { type DestinationStream, type Logger, pino as createPino, symbols } from 'pino';

import { openDestination, wrapStream } from './destination.ts';
import { LoggerError, optionError } from './errors.ts';
import { flushOnExit, PATIENCE_MS } from './flush-on-exit.ts';
import { serializers } from './line-fields.ts';
import type { LogDestination } from './log-destination.ts';
import type { ResolvedOptions } from './options.ts';
import type { RequestLog } from './request-log.ts';

/** One per app: the pino logger, where it writes, and which request is being worked on. */
export class LoggerCore {
  readonly options: ResolvedOptions;
  readonly pino: Logger;
  readonly destination: LogDestination;
  readonly storage: AsyncLocalStorage<RequestLog> | undefined;
  /** Exceptions a response line carries, so that no other line needs to. */
  readonly carried: WeakSet<object> = new WeakSet();
  readonly #forget: () => void;

  constructor(options: ResolvedOptions) {
    this.options = options;
    const { pino, destination } = createRoot(options);
    this.pino = pino;
    this.destination = destination;
    this.storage = options.context ? new AsyncLocalStorage() : undefined;
    this.#forget = flushOnExit(destination, options.signals);
  }

  /** The logger of the request that is being worked on, else the app's. */
  get current(): Logger {
    return this.storage?.getStore()?.pino ?? this.pino;
  }

  /** The request that is being worked on, if there is one and `context` is on. */
  get request(): RequestLog | undefined {
    return this.storage?.getStore();
  }

  /** Writes everything; what still comes afterwards is written at once. */
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
  const { level, redact, pino: rest } = options;
  const settings = {
    ...rest,
    level,
    ...(redact !== undefined && { redact }),
    serializers: { ...serializers, ...rest.serializers },
  };
  const own = rest.transport === undefined ? openDestination(options) : undefined;
  try {
    const pino = own === undefined ? createPino(settings) : createPino(settings, own.stream);
    const stream = Reflect.get(pino, symbols.streamSym) as DestinationStream;
    return { pino, destination: own ?? wrapStream(stream) };
  } catch (cause) {
    if (cause instanceof LoggerError) throw cause;
    const error = optionError('level or pino', { level, ...rest }, 'what pino accepts');
    error.message += ` pino says: ${cause instanceof Error ? cause.message : String(cause)}`;
    error.cause = cause;
    throw error;
  }
}
