import { positive } from '../validate.ts';

/** The options of every outbox. */
export interface OutboxOptions {
  /**
   * The table's name, with or without a schema.
   * @default 'defer_outbox'
   */
  table?: string;
  /**
   * Creates the table if it does not exist. `outboxTable()` returns the statements for a migration.
   * @default true
   */
  createTable?: boolean;
  /**
   * Interval at which an idle relay polls, in milliseconds. After an `enqueue` of this process it polls sooner.
   * @default 200
   */
  pollMs?: number;
  /**
   * Maximum number of jobs the relay sends at a time.
   * @default 1_000
   */
  inFlight?: number;
  /**
   * Lease of the rows that a relay has taken, in milliseconds. A relay renews it; if its process dies, another relay takes the
   * rows when it ends.
   * @default 30_000
   */
  leaseMs?: number;
}

export const outboxOptionNames: Readonly<Record<keyof OutboxOptions, true>> = {
  table: true,
  createTable: true,
  pollMs: true,
  inFlight: true,
  leaseMs: true,
};

export interface RelayOptions {
  readonly pollMs: number;
  readonly inFlight: number;
  readonly leaseMs: number;
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function relayOptions(options: OutboxOptions): RelayOptions {
  const { pollMs = 200, leaseMs = 30_000, inFlight = 1_000 } = options;
  return {
    pollMs: positive('pollMs', pollMs),
    leaseMs: positive('leaseMs', leaseMs),
    inFlight: positive('inFlight', inFlight),
  };
}
