import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboxHost } from '../outbox.ts';
import type { OutboxRow, OutboxStore } from './store.ts';
import { positive } from '../validate.ts';

/** Notifies the relay of commits. */
export interface CommitListener {
  /** True while notifications arrive. */
  readonly isListening: boolean;
  open(): void;
  close(): Promise<void>;
}

/** Interval and duration of the polling after an `enqueue`, whose commit is near. */
const eagerPollMs = 5;
const eagerForMs = 100;
/** Interval between the checks of kept rows, and the age up to which a sighting of their server counts. */
const checkKeptEveryMs = 1_000;
const seenWithinMs = 15_000;

/** Delivers the committed rows of an outbox to their sinks. */
export class Relay {
  readonly #store: OutboxStore;
  readonly #options: RelayOptions;
  readonly #listener: CommitListener | undefined;
  /** Rows this relay holds, by sink: an unavailable sink must not take all places. */
  readonly #held = new Map<string, Set<string>>();
  /** Rows whose jobs have arrived, and which are no longer needed. */
  readonly #delivered: string[] = [];
  /** Rows to be kept for a while, by the generation of the server their jobs were sent to. */
  readonly #sent = new Map<string, string[]>();
  /** Sinks that know the generation of their server. */
  readonly #windowed = new Set<string>();
  #checkKeptAtMs = 0;
  #hasLooked = false;
  /** True if a notification has arrived since the last look. */
  #isNotified = false;
  /** Rows whose jobs did not arrive before the end. */
  readonly #undelivered: string[] = [];
  readonly #closing = new AbortController();
  #wake = new AbortController();
  #eagerUntilMs = 0;
  #running: Promise<void> | undefined;
  #flushing: Promise<void> | undefined;

  /** @param listen Creates the listener, which calls `notified` when rows were committed. */
  constructor(
    store: OutboxStore,
    options: RelayOptions,
    listen?: (notified: () => void) => CommitListener,
  ) {
    this.#store = store;
    this.#options = options;
    this.#listener = listen?.(() => {
      this.#isNotified = true;
      this.#wake.abort();
    });
  }

  open(host: OutboxHost): void {
    this.#running = this.#run(host);
    this.#listener?.open();
  }

  /** Resolves when the rows that were taken are delivered or released. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await Promise.all([this.#running, this.#listener?.close()]);
  }

  /** Called when a row was written, and its commit is near. */
  expectCommit(): void {
    this.#eagerUntilMs = performance.now() + eagerForMs;
    this.#wake.abort();
  }

  async #run(host: OutboxHost): Promise<void> {
    let hasFailed = false;
    let renewAtMs = performance.now() + this.#options.leaseMs / 3;
    // Jobs that were taken are on their way. Their rows must be removed when they arrive: otherwise the next process repeats them.
    while (!this.#closing.signal.aborted || this.#heldCount > 0) {
      let taken = 0;
      try {
        await this.#store.create();
        await this.#flush();
        if (performance.now() > renewAtMs) {
          await this.#renew();
          renewAtMs = performance.now() + this.#options.leaseMs / 3;
        }
        await this.#checkKept(host);
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

  /** Takes rows that no relay holds and sends them off. Returns how many. */
  async #take(host: OutboxHost): Promise<number> {
    const { inFlight, leaseMs } = this.#options;
    const room = inFlight - this.#heldCount;
    if (room <= 0 || this.#closing.signal.aborted) return 0;
    const full = [...this.#held]
      .filter(([, held]) => held.size >= inFlight / 2)
      .map(([sink]) => sink);
    const limit = Math.min(room, Math.ceil(inFlight / 2));
    const taken = await this.#store.take(limit, leaseMs, full);
    for (const row of taken) this.#deliver(row, host);
    return taken.length;
  }

  #deliver(row: OutboxRow, host: OutboxHost): void {
    const { sink } = row.job;
    let held = this.#held.get(sink);
    if (held === undefined) this.#held.set(sink, (held = new Set()));
    // The lease ran out while this relay was delivering the job.
    if (held.has(row.position)) return;
    held.add(row.position);
    void this.#passOn(row, host);
  }

  async #passOn(row: OutboxRow, host: OutboxHost): Promise<void> {
    const { position, job } = row;
    try {
      const generation = await host.deliver(job);
      if (generation === undefined) this.#delivered.push(position);
      else this.#keep(row, generation);
      this.#wake.abort();
    } catch (error) {
      this.#held.get(job.sink)!.delete(position);
      if (this.#closing.signal.aborted) {
        this.#undelivered.push(position);
        this.#wake.abort();
        return;
      }
      host.warn(`The outbox could not pass on "${job.job}" ${job.id}; its row stays.`, error);
    }
  }

  #keep({ position, job }: OutboxRow, generation: string): void {
    this.#windowed.add(job.sink);
    const positions = this.#sent.get(generation);
    if (positions === undefined) this.#sent.set(generation, [position]);
    else positions.push(position);
  }

  /** Removes the rows of jobs that have arrived, or marks them as kept. */
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
        await this.#store.keep(positions, generation);
      } catch (error) {
        this.#sent.set(generation, [...positions, ...(this.#sent.get(generation) ?? [])]);
        throw error;
      }
      this.#dropHeld(positions);
    }
    const positions = this.#delivered.splice(0);
    if (positions.length === 0) return;
    try {
      await this.#store.remove(positions);
    } catch (error) {
      this.#delivered.push(...positions);
      throw error;
    }
    this.#dropHeld(positions);
  }

  /* Kept rows are sent again when their server comes back with another generation, and removed at the end of the replay window.
     Both need a recent sighting of the server: until then its state is unknown. */
  async #checkKept(host: OutboxHost): Promise<void> {
    if (performance.now() < this.#checkKeptAtMs) return;
    this.#checkKeptAtMs = performance.now() + checkKeptEveryMs;
    for (const sink of await this.#sinksWithKept()) {
      const life = host.lifeOf(sink);
      if (life === undefined || life.seenMsAgo > seenWithinMs) continue;
      const { generation, seenMsAgo, windowMs } = life;
      await this.#store.resend(sink, generation);
      await this.#store.forget(sink, generation, windowMs + seenMsAgo);
    }
  }

  /* Rows that another process has kept are found once, at the start. */
  async #sinksWithKept(): Promise<ReadonlySet<string>> {
    if (this.#hasLooked) return this.#windowed;
    for (const sink of await this.#store.sinksWithKept()) this.#windowed.add(sink);
    this.#hasLooked = true;
    return this.#windowed;
  }

  #dropHeld(positions: readonly string[]): void {
    for (const held of this.#held.values()) for (const each of positions) held.delete(each);
  }

  async #renew(): Promise<void> {
    const positions = [...this.#held.values()].flatMap((held) => [...held]);
    if (positions.length > 0) await this.#store.renew(positions, this.#options.leaseMs);
  }

  /** Frees the rows of jobs that did not arrive: another relay may take them at once. */
  async #release(): Promise<void> {
    if (this.#undelivered.length > 0) await this.#store.release(this.#undelivered);
  }

  async #rest(hasFailed: boolean): Promise<void> {
    if (this.#isNotified && !hasFailed) return;
    const { pollMs, leaseMs } = this.#options;
    // No notification arrives for leases that have to be renewed.
    const isIdle = this.#heldCount + this.#windowed.size === 0;
    const isListening = isIdle && !hasFailed && this.#listener?.isListening === true;
    const isEager = !isListening && performance.now() < this.#eagerUntilMs;
    const idleMs = isListening ? Math.max(pollMs, leaseMs / 3) : pollMs;
    this.#wake = new AbortController();
    if (this.#delivered.length + this.#sent.size > 0 && !hasFailed) return;
    if (this.#closing.signal.aborted && this.#heldCount === 0) return;
    await sleep(isEager ? eagerPollMs : idleMs, undefined, {
      signal: this.#wake.signal,
    }).catch(() => {});
  }
}

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
