import { performance } from 'node:perf_hooks';

import type { Bindings, Logger } from 'pino';

import { warnOfFault } from '../callback-fault.ts';
import { JobLog, type LoggerCore } from '../logger-core.ts';

/** Work that is not an HTTP request. */
export interface WorkFacts {
  /** A message that expects a response, one that does not, a message of a socket, a run of a timer, a job of a queue. */
  readonly kind: 'message' | 'event' | 'ws' | 'cron' | 'job';
  /** Its pattern, its method, or the queue and the name of the job. */
  readonly pattern: string;
  /** The transport of a message: `tcp`, `redis`, `nats`, `grpc`… */
  readonly transport?: string | undefined;
  readonly id: string;
}

/** The logger of one such piece of work, which also writes its line. */
export class WorkLog extends JobLog {
  readonly id: string;
  readonly #core: LoggerCore;
  readonly #facts: WorkFacts;
  readonly #since = performance.now();
  #own: Logger | undefined;
  #fields: Bindings | undefined;

  constructor(core: LoggerCore, facts: WorkFacts) {
    super(core.pino);
    this.#core = core;
    this.#facts = facts;
    this.id = facts.id;
  }

  /* Created with its first line. */
  override get pino(): Logger {
    const { reqId } = this.#core.options.shape.keys;
    return (this.#own ??= this.#core.pino.child({ [reqId]: this.id, ...this.#fields }));
  }

  override assign(fields: Bindings): void {
    this.#fields = { ...this.#fields, ...fields };
    this.#own = undefined;
  }

  /** Writes the line. Never throws, so the result of the work does not depend on it. */
  end(failure?: { readonly error: unknown }): void {
    try {
      this.#write(failure);
    } catch (error) {
      // From a serializer, a mixin or a destination of the app. In a timer or an observable it would end the process.
      warnOfFault(error);
    }
  }

  #write(failure: { readonly error: unknown } | undefined): void {
    const { messages, messageShare, shape } = this.#core.options;
    const isFault = failure !== undefined && !isRefusal(failure.error);
    if (isFault && typeof failure.error === 'object' && failure.error !== null)
      if (messages !== 'off') this.#core.carried.add(failure.error);
    if (messages === 'off') return;
    if (failure === undefined && messages !== 'all' && Math.random() >= messageShare) return;
    const { pino } = this.#core;
    const { kind, pattern, transport } = this.#facts;
    const level = failure === undefined ? 'info' : isFault ? 'error' : 'warn';
    const fields = {
      [shape.keys.reqId]: this.id,
      kind,
      ...(transport !== undefined && { transport }),
      pattern,
      [shape.keys.responseTime]: Math.round((performance.now() - this.#since) * 1_000) / 1_000,
      ...this.#fields,
      ...(failure !== undefined &&
        (isFault
          ? { [shape.keys.err]: asError(failure.error) }
          : { reason: messageOf(failure.error) })),
    };
    const what = kind === 'cron' || kind === 'job' ? 'job' : 'message';
    pino[level](fields, failure === undefined ? `${what} completed` : `${what} failed`);
  }
}

/* Returns true for a deliberate refusal, like a response below 500: Nest's exceptions for messages, sockets and requests. */
function isRefusal(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { getError, getStatus } = error as Record<'getError' | 'getStatus', unknown>;
  if (typeof getStatus === 'function') return Number(Reflect.apply(getStatus, error, [])) < 500;
  return typeof getError === 'function';
}

function asError(error: unknown): unknown {
  return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}
