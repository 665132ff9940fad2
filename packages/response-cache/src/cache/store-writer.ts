import { Answer } from '../answer/answer.ts';
import { CacheError } from '../errors.ts';
import type { Kept } from '../answer/answer-options.ts';
import type { PendingRun } from './pending-run.ts';
import type { JsonStore } from '../store/json-store.ts';
import type { Lease } from '../store/lease.ts';
import { encodeEntry } from '../answer/entry-format.ts';
import type { Counters } from '../stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';

/* Earlier than any version of a tag: a value made without a ticket is not stored. */
const noTicket = -1;

/* Max time for the producer of another process, in deadlines of a call: 25 s by default. */
const maxLeaseWait = 100;

/** Taken before a producer runs, so that the store can tell whether its result is still valid. */
export interface WritePermit {
  readonly ticket: number;
  readonly lease: Lease | undefined;
  /** False if the store has leases but none was available: the result may be outdated unnoticed. */
  readonly mayWrite: boolean;
}

const noPermit: WritePermit = { ticket: noTicket, lease: undefined, mayWrite: true };

/** Stores the result, unless a change has overtaken it. */
export class StoreWriter {
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #counters: Counters;

  constructor(store: JsonStore, health: StoreHealth, counters: Counters) {
    this.#store = store;
    this.#health = health;
    this.#counters = counters;
  }

  /**
   * Takes the permit of a run; returns `'made'` if another process has made the value meanwhile.
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no tags.
   */
  requestPermit(run: PendingRun): WritePermit | Promise<WritePermit | 'made'> {
    const isTagged = run.options.tags !== undefined;
    if (isTagged && this.#store.tags === undefined) {
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'The store of the cache does not support tags: use memoryStore or redisStore, or implement tags in your JsonStore.',
      );
    }
    const isOrdinary = run.renews === undefined && run.outdated !== undefined;
    const takesLease = this.#store.lease !== undefined && isOrdinary;
    // The store may be available again once the result is ready.
    if (this.#health.isDown) return { ...noPermit, mayWrite: !takesLease };
    if (!isTagged && !takesLease) return noPermit;
    return this.#takePermit(run, takesLease, isTagged);
  }

  /** Stores `made`. Returns undefined if that is done at once; a promise that callers must wait for is in `before`. */
  write(
    run: PendingRun,
    made: Kept,
    ttl: number,
    permit: WritePermit,
  ): { readonly before: Promise<void> } | { readonly after: Promise<void> } | undefined {
    const isTagged = typeof made !== 'string' && made.tags.length > 0;
    const mayBeRefused =
      isTagged || !permit.mayWrite || permit.lease !== undefined || run.renews !== undefined;
    if (mayBeRefused) return { before: this.#writeIfCurrent(run, made, ttl, permit) };
    if (ttl === 0 || run.isOutdated || this.#health.isDown) return undefined;
    try {
      const kept = this.#store.set(run.key, encodeEntry(made), ttl);
      if (kept instanceof Object) {
        const after = this.#health.withinDeadline(run.key, kept);
        return {
          after: after.then(this.#countWrite, (error: unknown) => this.#refuse(run.key, error)),
        };
      }
      this.#countWrite();
    } catch (error) {
      this.#refuse(run.key, error);
    }
    return undefined;
  }

  async #takePermit(
    run: PendingRun,
    takesLease: boolean,
    isTagged: boolean,
  ): Promise<WritePermit | 'made'> {
    let lease: Lease | undefined;
    let ticket = noTicket;
    try {
      // May take as long as the producer of another process, which is not a fault of the store.
      if (takesLease) {
        const taken = await this.#lease(run);
        if (taken === 'made') return taken;
        lease = taken;
      }
      // Another call may have found the store down meanwhile.
      if (isTagged && !this.#health.isDown) {
        const taken = Promise.resolve(this.#store.tags!.ticket());
        ticket = await this.#health.withinDeadline(run.key, taken);
      }
    } catch (error) {
      // The producer still runs; its result is not stored.
      this.#refuse(run.key, error);
    }
    return { lease, ticket, mayWrite: !takesLease || lease !== undefined };
  }

  async #lease({ key, outdated }: PendingRun): Promise<Lease | 'made'> {
    const leasing = this.#store.lease!(key, outdated);
    try {
      return checkLease(await this.#health.whileUp(leasing, maxLeaseWait));
    } catch (error) {
      // A lease that is granted after all would hold up every other process.
      Promise.resolve(leasing)
        .then((lease) => releaseLease(checkLease(lease)))
        .catch(() => {});
      throw error;
    }
  }

  async #writeIfCurrent(
    run: PendingRun,
    made: Kept,
    ttl: number,
    permit: WritePermit,
  ): Promise<void> {
    const { lease, ticket, mayWrite } = permit;
    try {
      const answer = mayWrite ? await this.#withVersions(run, made, ticket) : undefined;
      if (answer === undefined || ttl === 0 || run.isOutdated || this.#health.isDown) {
        // Not awaited: if the store hangs, every caller waiting for the response would hang too.
        releaseLease(lease);
        return;
      }
      const kept = this.#put(run, encodeEntry(answer), ttl, lease);
      const isKept = await this.#health.withinDeadline(run.key, Promise.resolve(kept));
      // The value that it replaces was deleted.
      if (isKept === false) run.isSuperseded = true;
      else this.#countWrite();
    } catch (error) {
      // The lease may have been taken away, which is unknown here. Callers waiting for it in other processes go on.
      run.isSuperseded = true;
      releaseLease(lease);
      this.#refuse(run.key, error);
    }
  }

  #put({ key, renews }: PendingRun, raw: string, ttl: number, lease: Lease | undefined): unknown {
    if (lease !== undefined) return lease.keep(raw, ttl);
    if (renews !== undefined && this.#store.replace !== undefined)
      return this.#store.replace(key, renews.seal, raw, ttl);
    return this.#store.set(key, raw, ttl);
  }

  /** Adds the versions of its tags; returns undefined if a tag was, or may have been, invalidated since the ticket was taken. */
  async #withVersions(run: PendingRun, made: Kept, ticket: number): Promise<Kept | undefined> {
    if (typeof made === 'string' || made.tags.length === 0) return made;
    if (ticket === noTicket || this.#health.isDown) return undefined;
    const opened = Promise.resolve(this.#store.tags!.open(made.tags));
    const versions = await this.#health.withinDeadline(run.key, opened);
    run.isSuperseded = versions.some((version) => version > ticket);
    return run.isSuperseded ? undefined : new Answer(made.json, { ...made, versions }, 'made');
  }

  readonly #countWrite = (): void => void (this.#counters.stores += 1);

  #refuse(key: string, error: unknown): void {
    this.#counters.storeErrors += 1;
    this.#health.refuse(key, error);
  }
}

/* A custom store may return anything. */
function checkLease(lease: Lease | 'made'): Lease | 'made' {
  const { keep, release } = (lease ?? {}) as Partial<Lease>;
  if (lease === 'made' || (typeof keep === 'function' && typeof release === 'function'))
    return lease;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The lease() of a store must return 'made' or a lease with keep() and release(); got a value of type ${typeof lease}.`,
  );
}

/** Releases a lease for other processes. Not awaited, because the store may hang. */
function releaseLease(lease: Lease | 'made' | undefined): void {
  if (typeof lease === 'object') lease.release().catch(() => {});
}
