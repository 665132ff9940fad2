import { setTimeout as sleep } from 'node:timers/promises';
import { DeferError } from '../errors.ts';
import type { Outbox, OutboxHost, OutboxJob, OutboxTransaction } from '../outbox.ts';
import { createHash } from 'node:crypto';
import { CommitWatch } from '../postgres/commit-watch.ts';
import { Listener } from '../postgres/listener.ts';
import { outboxTable } from '../postgres/outbox-table.ts';
import { quoteTable, type PostgresClient, type PostgresPool } from '../postgres/pool.ts';
import { TableCreator } from '../postgres/table-creator.ts';
import { transactionOf, type TransactionClient } from '../postgres/transaction-of.ts';
import { refuseUnknown } from '../validate.ts';

export { outboxTable } from '../postgres/outbox-table.ts';

export interface PostgresOutboxOptions {
  /** The pool of the relay. You own it. */
  pool: PostgresPool;
  /**
   * With or without a schema.
   * @default 'defer_outbox'
   */
  table?: string;
  /**
   * Whether the table is created if it does not exist; `outboxTable()` has the statement for a migration.
   * @default true
   */
  createTable?: boolean;
  /**
   * How often the relay polls when there is nothing, in milliseconds. After an `enqueue` of this process it polls
   * sooner.
   * @default 200
   */
  pollMs?: number;
  /**
   * Maximum number of jobs the relay sends at a time.
   * @default 1_000
   */
  inFlight?: number;
  /**
   * Whether commits of rows are notifications of PostgreSQL, and the relay listens to them, on one more connection of a pool
   * that has four or more. Where it is idle it then polls every third of `leaseMs`, for the rows of relays that died; behind a pooler that keeps
   * notifications from it, every `pollMs`. Where thousands of transactions a second commit rows, notifications have them
   * wait for each other.
   * @default true
   */
  listen?: boolean;
  /**
   * How long a relay holds the rows it took, in milliseconds. It extends this while it is alive; if it dies, another
   * takes them after this time.
   * @default 30_000
   */
  leaseMs?: number;
}

/** How soon, and for how long, the relay looks again after an `enqueue`: the commit must be near. */
const eagerPollMs = 5;
const eagerForMs = 100;
/** How often rows are looked after that their sinks have, and how lately a server must have been seen for it. */
const settleEveryMs = 1_000;
const seenWithinMs = 15_000;

const optionNames = {
  pool: true,
  table: true,
  createTable: true,
  pollMs: true,
  inFlight: true,
  leaseMs: true,
  listen: true,
} satisfies Record<keyof PostgresOutboxOptions, true>;

/**
 * Level `outbox`: the job is a row of the caller's own transaction. If it is rolled back, the job was never deferred;
 * once committed, it reaches its sink, from this process or, if it dies, from another on the same table.
 *
 * @example
 * ```ts
 * const deferrer = createDefer({ sinks, outbox: postgresOutbox({ pool }) });
 * await client.query('begin');
 * await client.query('insert into orders …');
 * await deferrer.defer(sendMail, { to }, { level: 'outbox', transaction: client }).acknowledged();
 * await client.query('commit');
 * ```
 */
export function postgresOutbox(options: PostgresOutboxOptions): Outbox {
  refuseUnknown('postgresOutbox', options, optionNames);
  return new PostgresOutbox(options);
}

interface Row {
  position: string;
  id: string;
  sink: string;
  job: string;
  key: string | null;
  data: string;
  deferred_at_ms: string;
  context: string | null;
  options: string | null;
}

function ended(job: OutboxJob): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_LEVEL',
    `The transaction of "${job.job}" ended before its row was written: await defer(…).acknowledged() before the commit, or deferrer.ready() before the first job.`,
  );
}

class PostgresOutbox implements Outbox {
  readonly #pool: PostgresPool;
  readonly #table: string;
  readonly #creator: TableCreator;
  readonly #commits: CommitWatch;
  readonly #listener: Listener | undefined;
  /** Makes the commit of a row a notification. */
  readonly #notifies: string = '';
  /** Transactions of libraries that do not say whether one has ended, and their ids. */
  readonly #proven = new WeakMap<object, string>();
  readonly #pollMs: number;
  readonly #leaseMs: number;
  readonly #mostInFlight: number;
  /** Rows this relay holds, by sink: one that is down must not take all places. */
  readonly #held = new Map<string, Set<string>>();
  /** Rows whose jobs have arrived, and are not needed any more. */
  readonly #delivered: string[] = [];
  /** The same, to be kept for the window of the server's life they were sent to. */
  readonly #sent = new Map<string, string[]>();
  /** Sinks that say which life of their server it is. */
  readonly #windowed = new Set<string>();
  #settleAtMs = 0;
  #hasLooked = false;
  /** Something was committed since the relay looked last. */
  #isNotified = false;
  /** Rows whose jobs did not arrive before the end. */
  readonly #undelivered: string[] = [];
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #eagerUntilMs = 0;
  #running: Promise<void> | undefined;
  #flushing: Promise<void> | undefined;

  constructor(options: PostgresOutboxOptions) {
    const { table = 'defer_outbox', pollMs = 200, leaseMs = 30_000, inFlight = 1_000 } = options;
    for (const [name, value] of Object.entries({ pollMs, leaseMs, inFlight })) {
      if (Number.isFinite(value) && value > 0) continue;
      throw new DeferError(
        'ERR_REDLINE_DEFER_OPTION',
        `${name} of the outbox is ${String(value)}: it must be a number above 0.`,
      );
    }
    this.#pool = options.pool;
    this.#table = quoteTable(table);
    this.#creator = new TableCreator(
      this.#pool,
      options.createTable === false ? undefined : outboxTable(table),
    );
    this.#commits = new CommitWatch(this.#pool);
    this.#pollMs = pollMs;
    if (options.listen !== false) {
      const channel = `defer_${createHash('sha256').update(this.#table).digest('hex').slice(0, 16)}`;
      this.#notifies = `, pg_notify('${channel}', '')`;
      this.#listener = new Listener(this.#pool, `"${channel}"`, () => {
        this.#isNotified = true;
        this.#wake.abort();
      });
    }
    this.#leaseMs = leaseMs;
    this.#mostInFlight = inFlight;
  }

  async enqueue(transaction: unknown, job: OutboxJob): Promise<OutboxTransaction> {
    const client = transactionOf(transaction, job.job);
    // In the same turn as the call: a client runs its queries in their order, whatever the caller does not wait for.
    const id = await this.#write(client, transaction as object, job);
    this.#eagerUntilMs = performance.now() + eagerForMs;
    this.#wake.abort();
    return { isCommitted: (signal) => this.#commits.isCommitted(id, signal) };
  }

  async #write(client: TransactionClient, transaction: object, job: OutboxJob): Promise<string> {
    if (client.isUnproven !== true && this.#creator.isDone)
      return (await this.#insert(client, job))!;
    const known = this.#creator.isDone ? this.#proven.get(transaction) : undefined;
    const begun = known ?? (await this.#prove(client));
    const id = await this.#insert(client, job, begun);
    if (id === undefined) throw ended(job);
    this.#proven.set(transaction, id);
    return id;
  }

  /* The id of the transaction; undefined when it is over. */
  async #insert(
    client: PostgresClient,
    job: OutboxJob,
    transaction?: string,
  ): Promise<string | undefined> {
    const values = [
      job.id,
      job.sink,
      job.job,
      job.key ?? null,
      job.json,
      job.deferredAtMs,
      job.context === undefined ? null : JSON.stringify(job.context),
      job.options === undefined ? null : JSON.stringify(job.options),
    ];
    const columns = 'id, sink, job, key, data, deferred_at_ms, context, options';
    const { rows } =
      transaction === undefined
        ? await client.query(
            `insert into ${this.#table} (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)
             returning txid_current()::text as id${this.#notifies}`,
            values,
          )
        : await client.query(
            `insert into ${this.#table} (${columns})
             select $1, $2, $3, $4, $5, $6::bigint, $7, $8 where txid_current()::text = $9
             returning $9 as id${this.#notifies}`,
            [...values, transaction],
          );
    return (rows[0] as { id: string } | undefined)?.id;
  }

  /*
   * The id of the transaction, and with it the table: either may be over by the time of the insert, and the next one is not
   * the job's. A savepoint is refused where no transaction is.
   */
  async #prove(client: TransactionClient): Promise<string> {
    const queries = ['select txid_current()::text as id'];
    if (client.isUnproven === true) {
      queries.unshift('savepoint redline_defer');
      queries.push('release savepoint redline_defer');
    }
    const results = queries.map((text) => client.query(text));
    for (const result of results) result.catch(() => {});
    await this.#creator.haveFor(client, this.#table, 'outbox');
    const rows = (await Promise.all(results)).flatMap((result) => result.rows);
    return (rows[0] as { id: string }).id;
  }

  /** Resolves when the table is there, or after a while: the relay goes on trying. */
  async open(host: OutboxHost): Promise<void> {
    this.#running = this.#relay(host);
    this.#listener?.open();
    await this.#creator.createSoon().catch(() => {});
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await Promise.all([this.#running, this.#listener?.close()]);
  }

  async #relay(host: OutboxHost): Promise<void> {
    let hasFailed = false;
    let renewAtMs = performance.now() + this.#leaseMs / 3;
    // What was taken is on its way, and its rows must go when it arrives: else the next process does it again.
    while (!this.#closing.signal.aborted || this.#heldCount > 0) {
      let taken = 0;
      try {
        await this.#creator.create();
        await this.#flush();
        if (performance.now() > renewAtMs) {
          await this.#renew();
          renewAtMs = performance.now() + this.#leaseMs / 3;
        }
        await this.#settle(host);
        this.#isNotified = false;
        taken = await this.#take(host);
        hasFailed = false;
      } catch (error) {
        if (!hasFailed) host.warn('The outbox cannot be read. Its rows wait.', error);
        hasFailed = true;
      }
      // Their leases run out by themselves.
      if (hasFailed && this.#closing.signal.aborted) break;
      if (taken === 0) await this.#rest(hasFailed);
    }
    await this.#release().catch((error: unknown) => {
      host.warn('Rows claimed by the outbox stay claimed until their lease expires.', error);
    });
  }

  get #heldCount(): number {
    let count = 0;
    for (const held of this.#held.values()) count += held.size;
    return count;
  }

  /** Takes rows nobody holds and sends them off. Returns how many. */
  async #take(host: OutboxHost): Promise<number> {
    const room = this.#mostInFlight - this.#heldCount;
    if (room <= 0 || this.#closing.signal.aborted) return 0;
    const full = [...this.#held]
      .filter(([, held]) => held.size >= this.#mostInFlight / 2)
      .map(([sink]) => sink);
    const { rows } = await this.#pool.query(
      `update ${this.#table} set claimed_until = now() + $1 * interval '1 millisecond'
       where position in (
         select position from ${this.#table}
         where sent_at is null and (claimed_until is null or claimed_until < now()) and sink <> all($3)
         order by position limit $2 for update skip locked)
       returning position, id, sink, job, key, data, deferred_at_ms, context, options`,
      [this.#leaseMs, Math.min(room, Math.ceil(this.#mostInFlight / 2)), full],
    );
    const taken = (rows as Row[]).toSorted((a, b) =>
      Number(BigInt(a.position) - BigInt(b.position)),
    );
    for (const row of taken) this.#deliver(row, host);
    return taken.length;
  }

  #deliver(row: Row, host: OutboxHost): void {
    let held = this.#held.get(row.sink);
    if (held === undefined) this.#held.set(row.sink, (held = new Set()));
    // Held already: the lease ran out while this very relay was at it.
    if (held.has(row.position)) return;
    held.add(row.position);
    const job: OutboxJob = {
      id: row.id,
      sink: row.sink,
      job: row.job,
      key: row.key ?? undefined,
      json: row.data,
      deferredAtMs: Number(row.deferred_at_ms),
      context: row.context === null ? undefined : JSON.parse(row.context),
      options: row.options === null ? undefined : JSON.parse(row.options),
    };
    void this.#passOn(row, job, host);
  }

  async #passOn(row: Row, job: OutboxJob, host: OutboxHost): Promise<void> {
    try {
      const generation = await host.deliver(job);
      if (generation === undefined) this.#delivered.push(row.position);
      else this.#keep(row, generation);
      this.#wake.abort();
    } catch (error) {
      this.#held.get(row.sink)!.delete(row.position);
      if (this.#closing.signal.aborted) {
        this.#undelivered.push(row.position);
        this.#wake.abort();
        return;
      }
      host.warn(`The outbox could not hand on "${row.job}" ${row.id}; its row stays.`, error);
    }
  }

  #keep({ sink, position }: Row, generation: string): void {
    this.#windowed.add(sink);
    const positions = this.#sent.get(generation);
    if (positions === undefined) this.#sent.set(generation, [position]);
    else positions.push(position);
  }

  /** Removes the rows of what has arrived, or has them wait for the end of their window. */
  async #flush(): Promise<void> {
    await this.#flushing;
    if (this.#delivered.length === 0 && this.#sent.size === 0) return;
    this.#flushing = this.#flushNow().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  async #flushNow(): Promise<void> {
    for (const [generation, positions] of this.#sent) {
      // More may come meanwhile.
      this.#sent.delete(generation);
      try {
        await this.#pool.query(
          `update ${this.#table} set sent_at = now(), sent_to = $1, claimed_until = null
           where position = any($2::bigint[])`,
          [generation, positions],
        );
      } catch (error) {
        this.#sent.set(generation, [...positions, ...(this.#sent.get(generation) ?? [])]);
        throw error;
      }
      this.#letGo(positions);
    }
    const positions = this.#delivered.splice(0);
    if (positions.length > 0) await this.#remove(positions);
  }

  /* What a server has is sent again when it comes back as another, and goes when its window is over: both only while
     that server is seen, for else nobody knows what has become of it. */
  async #settle(host: OutboxHost): Promise<void> {
    if (performance.now() < this.#settleAtMs) return;
    this.#settleAtMs = performance.now() + settleEveryMs;
    for (const sink of await this.#sinksWithSent()) {
      const life = host.lifeOf(sink);
      if (life === undefined || life.seenMsAgo > seenWithinMs) continue;
      const { generation, seenMsAgo, windowMs } = life;
      await this.#pool.query(
        `update ${this.#table} set sent_at = null, sent_to = null
         where sink = $1 and sent_at is not null and sent_to <> $2`,
        [sink, generation],
      );
      await this.#pool.query(
        `delete from ${this.#table}
         where sink = $1 and sent_to = $2 and sent_at < now() - $3 * interval '1 millisecond'`,
        [sink, generation, windowMs + seenMsAgo],
      );
    }
  }

  /* Those another process has left are found once, at the start. */
  async #sinksWithSent(): Promise<ReadonlySet<string>> {
    if (this.#hasLooked) return this.#windowed;
    const { rows } = await this.#pool.query(
      `select distinct sink from ${this.#table} where sent_at is not null`,
    );
    for (const { sink } of rows as { sink: string }[]) this.#windowed.add(sink);
    this.#hasLooked = true;
    return this.#windowed;
  }

  #letGo(positions: readonly string[]): void {
    for (const held of this.#held.values()) for (const each of positions) held.delete(each);
  }

  async #remove(positions: string[]): Promise<void> {
    try {
      await this.#pool.query(`delete from ${this.#table} where position = any($1::bigint[])`, [
        positions,
      ]);
    } catch (error) {
      this.#delivered.push(...positions);
      throw error;
    }
    this.#letGo(positions);
  }

  async #renew(): Promise<void> {
    const positions = [...this.#held.values()].flatMap((held) => [...held]);
    if (positions.length === 0) return;
    await this.#pool.query(
      `update ${this.#table} set claimed_until = now() + $1 * interval '1 millisecond'
       where position = any($2::bigint[])`,
      [this.#leaseMs, positions],
    );
  }

  /** What was taken and did not arrive is free for others at once. */
  async #release(): Promise<void> {
    if (this.#undelivered.length === 0) return;
    await this.#pool.query(
      `update ${this.#table} set claimed_until = null where position = any($1::bigint[])`,
      [this.#undelivered],
    );
  }

  async #rest(hasFailed: boolean): Promise<void> {
    if (this.#isNotified && !hasFailed) return;
    // Whatever is to be renewed, or looked after, is not notified.
    const isIdle = this.#heldCount + this.#windowed.size === 0;
    const isListening = isIdle && !hasFailed && this.#listener?.isListening === true;
    const isEager = !isListening && performance.now() < this.#eagerUntilMs;
    const pollMs = isListening ? Math.max(this.#pollMs, this.#leaseMs / 3) : this.#pollMs;
    this.#wake = new AbortController();
    if (this.#delivered.length + this.#sent.size > 0 && !hasFailed) return;
    if (this.#closing.signal.aborted && this.#heldCount === 0) return;
    await sleep(isEager ? eagerPollMs : pollMs, undefined, {
      signal: this.#wake.signal,
    }).catch(() => {});
  }
}
