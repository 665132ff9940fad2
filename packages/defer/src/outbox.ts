import type { DeferContext } from './sink.ts';

/** A job as the outbox keeps it: everything `Delivery` needs to be made again, all of it plain JSON. */
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

/** A life of a sink's server that may come back with less than it acknowledged. */
export interface SinkLife {
  readonly generation: string;
  /** How long ago it was seen, in milliseconds. */
  readonly seenMsAgo: number;
  /** How long a row is kept that it has, in milliseconds in which it lives. */
  readonly windowMs: number;
}

/** What the core gives the outbox's relay. */
export interface OutboxHost {
  /**
   * Sends a committed job to its sink. Resolves when the sink has it or when it is a dead letter: with the generation
   * of the sink's server if that may come back without the job, and the row must be kept for its window; otherwise with
   * nothing, and the row may be deleted. Rejects if the app closes first, and the row must stay. Waits while the sink
   * is down.
   */
  deliver(job: OutboxJob): Promise<string | undefined>;
  /** The life of the sink's server, where it says so. What another one was sent in its window is to be sent again. */
  lifeOf(sink: string): SinkLife | undefined;
  warn(message: string, error?: unknown): void;
}

/** A transaction of the caller's that has a row. */
export interface OutboxTransaction {
  /**
   * Resolves when it has ended: true if it was committed, by the word of the database. Rejects when `signal` aborts.
   */
  isCommitted(signal: AbortSignal): Promise<boolean>;
}

/** Level `outbox`: the job is a row of the caller's own transaction, and a relay takes it on after the commit. */
export interface Outbox {
  /**
   * Writes the row through the caller's client. The caller awaits it before the commit. The response of a request waits for
   * the end of the returned transaction; without one for the row alone.
   */
  enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction | void>;
  /** Starts the relay. */
  open(host: OutboxHost): Promise<void> | void;
  /** From now on nothing is taken; resolves when what was taken has arrived, or was given back. The lanes drain meanwhile. */
  close(): Promise<void>;
}
