import type { DeferContext } from './sink.ts';

/** A job as the outbox stores it: everything needed to recreate its `Delivery`, as plain JSON. */
export interface OutboxJob {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | undefined;
  readonly json: string;
  readonly deferredAtMs: number;
  readonly context: DeferContext | undefined;
  readonly options: Readonly<Record<string, unknown>> | undefined;
}

/** One lifetime of a sink's server that may come back with less than it acknowledged. */
export interface SinkLife {
  readonly generation: string;
  /** Time since it was last seen, in milliseconds. */
  readonly seenMsAgo: number;
  /** Time for which a row that the server has is kept, in milliseconds in which the server is alive. */
  readonly windowMs: number;
}

/** Interface of the core for the outbox's relay. */
export interface OutboxHost {
  /**
   * Sends a committed job to its sink. Resolves when the sink has it or when it is a dead letter: with the generation
   * of the sink's server if that may come back without the job, and the row must be kept for its window; otherwise with
   * nothing, and the row may be deleted. Rejects if the app closes first, and the row must stay. Waits while the sink
   * is down.
   */
  deliver(job: OutboxJob): Promise<string | undefined>;
  /** Returns the lifetime of the sink's server, if known. Jobs sent to another one within its window must be sent again. */
  lifeOf(sink: string): SinkLife | undefined;
  warn(message: string, error?: unknown): void;
}

/** A caller's transaction that contains a row. */
export interface OutboxTransaction {
  /** Resolves when it has ended: true if it was committed, as confirmed by the database. Rejects when `signal` aborts. */
  isCommitted(signal: AbortSignal): Promise<boolean>;
}

/** Level `outbox`: the job is a row of the caller's own transaction, and a relay sends it after the commit. */
export interface Outbox {
  /**
   * Writes the row through the caller's client. The caller awaits it before the commit. The response of a request waits for
   * the end of the returned transaction; without one, for the row only.
   */
  enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction | void>;
  /** Starts the relay. */
  open(host: OutboxHost): Promise<void> | void;
  /** Takes no further rows; resolves when those taken are delivered, or given back. The queues drain meanwhile. */
  close(): Promise<void>;
}
