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

/** What the core gives the outbox's relay. */
export interface OutboxHost {
  /**
   * Takes a committed job to its sink. Resolves when the sink has it or when it lies with the dead letters, and the
   * row may go; rejects when the app closes first, and the row must stay. Waits while the sink is down.
   */
  deliver(job: OutboxJob): Promise<void>;
  warn(message: string, error?: unknown): void;
}

/** Level `outbox`: the job is a row of the caller's own transaction, and a relay takes it on after the commit. */
export interface Outbox {
  /** Writes the row through the caller's client. The caller awaits it before the commit. */
  enqueue(transaction: unknown, job: OutboxJob): Promise<void>;
  /** Starts the relay. */
  open(host: OutboxHost): Promise<void> | void;
  /** From now on nothing is taken; resolves when what was taken has arrived, or was given back. The lanes drain meanwhile. */
  close(): Promise<void>;
}
