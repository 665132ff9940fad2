import { Answer } from '../answer/answer.ts';
import { CacheError } from '../errors.ts';
import type { Flight, Kept } from '../answer/flight.ts';
import type { JsonStore } from '../store/json-store.ts';
import type { Lease } from '../store/lease.ts';
import { seal } from '../answer/seal.ts';
import type { Counters } from '../counts/stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';

/* Earlier than any version of a tag: a value made without a ticket is not stored. */
const noTicket = -1;

/* So many times the deadline of a call another process may take for its producer: 25 s by default. */
const maxLeaseWait = 100;

/** Taken before a production begins, so that the store can tell whether its result is still valid. */
export interface Claim {
  readonly ticket: number;
  readonly lease: Lease | undefined;
  /** False if the store has leases but none was available: the result may be outdated unnoticed. */
  readonly mayKeep: boolean;
}

const noClaim: Claim = { ticket: noTicket, lease: undefined, mayKeep: true };

/** Stores the result, unless a change has overtaken it. */
export class Keeper {
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #counters: Counters;

  constructor(store: JsonStore, health: StoreHealth, counters: Counters) {
    this.#store = store;
    this.#health = health;
    this.#counters = counters;
  }

  /**
   * `'made'` if another process has made the value meanwhile.
   * @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the store has no tags.
   */
  claim(flight: Flight): Claim | Promise<Claim | 'made'> {
    const isTagged = flight.options.tags !== undefined;
    if (isTagged && this.#store.tags === undefined) {
      throw new CacheError(
        'ERR_REDLINE_CACHE_OPTION',
        'The store of the cache does not support tags: use memoryStore or redisStore, or implement tags in your JsonStore.',
      );
    }
    const isOrdinary = flight.renews === undefined && flight.outdated !== undefined;
    const takesLease = this.#store.lease !== undefined && isOrdinary;
    // The store may be available again by the time there is something to keep.
    if (this.#health.isDown) return { ...noClaim, mayKeep: !takesLease };
    if (!isTagged && !takesLease) return noClaim;
    return this.#claim(flight, takesLease, isTagged);
  }

  /** Undefined if it is done at once; otherwise nobody may get `made` before. */
  keep(
    flight: Flight,
    made: Kept,
    ttl: number,
    claim: Claim,
  ): { readonly before: Promise<void> } | { readonly after: Promise<void> } | undefined {
    const isTagged = typeof made !== 'string' && made.tags.length > 0;
    const mayBeRefused =
      isTagged || !claim.mayKeep || claim.lease !== undefined || flight.renews !== undefined;
    if (mayBeRefused) return { before: this.#keepIfTrue(flight, made, ttl, claim) };
    if (ttl === 0 || flight.isOutdated || this.#health.isDown) return undefined;
    try {
      const kept = this.#store.set(flight.key, seal(made), ttl);
      if (kept instanceof Object) {
        const after = this.#health.withinDeadline(flight.key, kept);
        return {
          after: after.then(this.#taken, (error: unknown) => this.#refuse(flight.key, error)),
        };
      }
      this.#taken();
    } catch (error) {
      this.#refuse(flight.key, error);
    }
    return undefined;
  }

  async #claim(flight: Flight, takesLease: boolean, isTagged: boolean): Promise<Claim | 'made'> {
    let lease: Lease | undefined;
    let ticket = noTicket;
    try {
      // As long as another process takes, which is not the fault of the store.
      if (takesLease) {
        const taken = await this.#lease(flight);
        if (taken === 'made') return taken;
        lease = taken;
      }
      // It may have gone down meanwhile, and others have found out.
      if (isTagged && !this.#health.isDown) {
        const taken = Promise.resolve(this.#store.tags!.ticket());
        ticket = await this.#health.withinDeadline(flight.key, taken);
      }
    } catch (error) {
      // The producer still runs; its result is not stored.
      this.#refuse(flight.key, error);
    }
    return { lease, ticket, mayKeep: !takesLease || lease !== undefined };
  }

  async #lease({ key, outdated }: Flight): Promise<Lease | 'made'> {
    const leasing = this.#store.lease!(key, outdated);
    try {
      return checked(await this.#health.whileUp(leasing, maxLeaseWait));
    } catch (error) {
      // One that is granted all the same would hold up every other process.
      Promise.resolve(leasing)
        .then((lease) => letGo(checked(lease)))
        .catch(() => {});
      throw error;
    }
  }

  async #keepIfTrue(flight: Flight, made: Kept, ttl: number, claim: Claim): Promise<void> {
    const { lease, ticket, mayKeep } = claim;
    try {
      const answer = mayKeep ? await this.#withVersions(flight, made, ticket) : undefined;
      if (answer === undefined || ttl === 0 || flight.isOutdated || this.#health.isDown) {
        // It is not waited for: where the store hangs, so would everybody who is to get the response.
        letGo(lease);
        return;
      }
      const kept = this.#put(flight, seal(answer), ttl, lease);
      const isKept = await this.#health.withinDeadline(flight.key, Promise.resolve(kept));
      // Somebody has deleted the value that it replaces.
      if (isKept === false) flight.isSuperseded = true;
      else this.#taken();
    } catch (error) {
      // Perhaps it was taken away: nobody knows. Whoever waits for it in another process goes on.
      flight.isSuperseded = true;
      letGo(lease);
      this.#refuse(flight.key, error);
    }
  }

  #put({ key, renews }: Flight, raw: string, ttl: number, lease: Lease | undefined): unknown {
    if (lease !== undefined) return lease.keep(raw, ttl);
    if (renews !== undefined && this.#store.replace !== undefined)
      return this.#store.replace(key, renews.seal, raw, ttl);
    return this.#store.set(key, raw, ttl);
  }

  /** Undefined if a tag was invalidated since the ticket was taken, or may have been. */
  async #withVersions(flight: Flight, made: Kept, ticket: number): Promise<Kept | undefined> {
    if (typeof made === 'string' || made.tags.length === 0) return made;
    if (ticket === noTicket || this.#health.isDown) return undefined;
    const opened = Promise.resolve(this.#store.tags!.open(made.tags));
    const versions = await this.#health.withinDeadline(flight.key, opened);
    flight.isSuperseded = versions.some((version) => version > ticket);
    return flight.isSuperseded ? undefined : new Answer(made.json, { ...made, versions }, 'made');
  }

  readonly #taken = (): void => void (this.#counters.stores += 1);

  #refuse(key: string, error: unknown): void {
    this.#counters.storeErrors += 1;
    this.#health.refuse(key, error);
  }
}

/* A store of the app may return anything. */
function checked(lease: Lease | 'made'): Lease | 'made' {
  const { keep, release } = (lease ?? {}) as Partial<Lease>;
  if (lease === 'made' || (typeof keep === 'function' && typeof release === 'function'))
    return lease;
  throw new CacheError(
    'ERR_REDLINE_CACHE_OPTION',
    `The lease() of a store must return 'made' or a lease with keep() and release(); got a value of type ${typeof lease}.`,
  );
}

/** Lets others take it. The store may hang, so it is not waited for. */
function letGo(lease: Lease | 'made' | undefined): void {
  if (typeof lease === 'object') lease.release().catch(() => {});
}
