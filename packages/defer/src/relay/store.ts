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
  sinksWithKept(): Promise<string[]>;
  renew(positions: readonly string[], leaseMs: number): Promise<void>;
  release(positions: readonly string[]): Promise<void>;
}

/** The columns of a job, in the order of `valuesOf`. */
export const jobColumns: readonly string[] = [
  'id',
  'sink',
  'job',
  'key',
  'data',
  'deferred_at_ms',
  'context',
  'options',
];

export interface JobRow {
  /** A whole number, as the driver reads it. */
  readonly position: string | number | bigint;
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | null;
  readonly data: string;
  readonly deferred_at_ms: string | number | bigint;
  readonly context: string | null;
  readonly options: string | null;
}

export function valuesOf(job: OutboxJob): (string | number | null)[] {
  return [
    job.id,
    job.sink,
    job.job,
    job.key ?? null,
    job.json,
    job.deferredAtMs,
    job.context === undefined ? null : JSON.stringify(job.context),
    job.options === undefined ? null : JSON.stringify(job.options),
  ];
}

export function jobOf(row: JobRow): OutboxJob {
  return {
    id: row.id,
    sink: row.sink,
    job: row.job,
    key: row.key ?? undefined,
    json: row.data,
    deferredAtMs: Number(row.deferred_at_ms),
    context: row.context === null ? undefined : JSON.parse(row.context),
    options: row.options === null ? undefined : JSON.parse(row.options),
  };
}

/** The parts of statements in which the databases differ. */
export interface Dialect {
  /** The database's time. */
  readonly now: string;
  /** A duration in milliseconds, which is a value, as one that is added to a time. */
  readonly duration: string;
  /** The rest of `position …`, true for those in a list, which is one value. */
  readonly among: string;
  /** The ending of the columns that are times. */
  readonly times: '' | '_ms';
}

/** Time after its commit for which the writer of a row may look for it. */
const keptForWriterMs = 60_000;
const cleanEveryMs = 10_000;

/**
 * The outbox's table; values are question marks. A row whose job has arrived stays for a while: it shows its writer that it was
 * committed, where a database cannot say how a transaction has ended.
 */
export abstract class OutboxTable implements OutboxStore {
  protected readonly table: string;
  readonly #dialect: Dialect;
  #removedAtMs = performance.now();
  #cleanedAtMs = -Infinity;

  /** @param table Quoted. */
  constructor(table: string, dialect: Dialect) {
    this.table = table;
    this.#dialect = dialect;
  }

  abstract create(): Promise<void>;
  abstract take(limit: number, leaseMs: number, full: readonly string[]): Promise<OutboxRow[]>;
  protected abstract run(text: string, values: readonly unknown[]): Promise<unknown>;
  protected abstract read(text: string, values: readonly unknown[]): Promise<unknown[]>;
  protected abstract listOf(positions: readonly string[]): unknown;

  /** Rows that no relay holds and whose jobs have not arrived. */
  protected get free(): string {
    return `${this.#sentAt} is null and (${this.#claimedUntil} is null or ${this.#claimedUntil} < ${this.#dialect.now})`;
  }

  /** Sets the end of a lease; its value is the duration in milliseconds. */
  protected get leased(): string {
    return `${this.#claimedUntil} = ${this.#dialect.now} + ${this.#dialect.duration}`;
  }

  protected get among(): string {
    return `position ${this.#dialect.among}`;
  }

  get #sentAt(): string {
    return `sent_at${this.#dialect.times}`;
  }

  get #claimedUntil(): string {
    return `claimed_until${this.#dialect.times}`;
  }

  /* Sent longer ago than a duration, the value. */
  get #isOld(): string {
    return `${this.#sentAt} < ${this.#dialect.now} - ${this.#dialect.duration}`;
  }

  async remove(positions: readonly string[]): Promise<void> {
    await this.keep(positions, '');
    this.#removedAtMs = performance.now();
  }

  /** Deletes rows that their writers no longer need. An idle relay calls it as well: the last rows must not stay. */
  protected async clean(): Promise<void> {
    const now = performance.now();
    const isClean = this.#cleanedAtMs > this.#removedAtMs + keptForWriterMs + cleanEveryMs;
    if (isClean || now < this.#cleanedAtMs + cleanEveryMs) return;
    this.#cleanedAtMs = now;
    const text = `delete from ${this.table} where sent_to = '' and ${this.#isOld}`;
    await this.run(text, [keptForWriterMs]);
  }

  async keep(positions: readonly string[], generation: string): Promise<void> {
    await this.run(
      `update ${this.table} set ${this.#sentAt} = ${this.#dialect.now}, sent_to = ?, ${this.#claimedUntil} = null
       where ${this.among}`,
      [generation, this.listOf(positions)],
    );
  }

  async resend(sink: string, generation: string): Promise<void> {
    await this.run(
      `update ${this.table} set ${this.#sentAt} = null, sent_to = null
       where sink = ? and ${this.#sentAt} is not null and sent_to not in (?, '')`,
      [sink, generation],
    );
  }

  async forget(sink: string, generation: string, keptMs: number): Promise<void> {
    const text = `delete from ${this.table} where sink = ? and sent_to = ? and ${this.#isOld}`;
    await this.run(text, [sink, generation, keptMs]);
  }

  async sinksWithKept(): Promise<string[]> {
    const text = `select distinct sink from ${this.table} where ${this.#sentAt} is not null and sent_to <> ''`;
    const rows = await this.read(text, []);
    return (rows as { sink: string }[]).map(({ sink }) => sink);
  }

  async renew(positions: readonly string[], leaseMs: number): Promise<void> {
    const text = `update ${this.table} set ${this.leased} where ${this.among}`;
    await this.run(text, [leaseMs, this.listOf(positions)]);
  }

  async release(positions: readonly string[]): Promise<void> {
    const text = `update ${this.table} set ${this.#claimedUntil} = null where ${this.among}`;
    await this.run(text, [this.listOf(positions)]);
  }
}
