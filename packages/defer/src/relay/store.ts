import type { OutboxJob } from '../outbox.ts';

export interface OutboxRow {
  /** A whole number, in the order of the rows. */
  readonly position: string;
  readonly job: OutboxJob;
}

/** The table of an outbox, as its relay uses it: committed rows only. */
export interface OutboxStore {
  /** Creates the table if it does not exist. */
  create(): Promise<void>;
  /** Leases up to `limit` rows that no relay holds, the oldest first, without those of `full` sinks. */
  take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]>;
  /** Removes rows whose jobs have arrived. */
  remove(positions: readonly string[]): Promise<void>;
  /** Keeps rows whose jobs have arrived at a server that may come back without them. */
  keep(positions: readonly string[], generation: string): Promise<void>;
  /** Frees kept rows of the sink whose jobs another generation of its server got. */
  resend(sink: string, generation: string): Promise<void>;
  /** Removes kept rows whose jobs this generation of the sink's server got more than `keptMs` ago. */
  forget(sink: string, generation: string, keptMs: number): Promise<void>;
  /** The sinks that have kept rows. */
  sinksWithKept(): Promise<string[]>;
  renew(positions: readonly string[], leaseMs: number): Promise<void>;
  release(positions: readonly string[]): Promise<void>;
}
