import type { Answer } from '../answer/answer.ts';
import type { Outcome } from '../answer/flight.ts';
import { Unshared } from '../answer/unshared.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import type { JsonStore } from '../store/json-store.ts';
import type { Productions, Wanted } from './productions.ts';

/* As long as a production takes new callers. A process that dies in the middle holds up the next renewal no longer. */
const claimMs = 30_000;
/* Whoever has read the old value shortly before it was replaced finds the claim taken. */
const settledMs = 1_000;
/* How long a claim of another process is not asked for again. */
const pauseMs = 250;
const claimSuffix = ':redline-renewal';

interface Pending {
  readonly renewal: Promise<Outcome | undefined>;
  readonly startedAt: number;
}

/** Renewals that no caller makes itself: one for each key, in all processes that share a store with `claim`. */
export class Renewals {
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #productions: Productions;
  readonly #tellFailure: (key: string, error: unknown) => void;
  readonly #pending = new Map<string, Pending>();

  constructor(
    store: JsonStore,
    health: StoreHealth,
    productions: Productions,
    tellFailure: (key: string, error: unknown) => void,
  ) {
    this.#store = store;
    this.#health = health;
    this.#productions = productions;
    this.#tellFailure = tellFailure;
  }

  /** What replaces `old`; undefined if another process makes it, or it fails. Never rejects. */
  start(wanted: Wanted, old: Answer): Promise<Outcome | undefined> {
    const { key } = wanted;
    const pending = this.#pending.get(key);
    // One that never settles ends with its claim.
    if (pending !== undefined && performance.now() - pending.startedAt < claimMs)
      return pending.renewal;
    const end = (): void => {
      if (this.#pending.get(key) === started) this.#pending.delete(key);
    };
    const renewal = this.#renew(wanted, old).then(
      (outcome) => {
        if (outcome !== undefined) end();
        // Each stale hit would otherwise ask the store.
        else setTimeout(end, pauseMs).unref();
        return outcome;
      },
      (error: unknown) => {
        end();
        this.#tellFailure(key, error);
        return undefined;
      },
    );
    const started: Pending = { renewal, startedAt: performance.now() };
    this.#pending.set(key, started);
    return renewal;
  }

  async #renew(wanted: Wanted, old: Answer): Promise<Outcome | undefined> {
    if (!(await this.#claim(wanted.key, old))) return undefined;
    try {
      const outcome = await this.#productions.renewBehind(wanted, old);
      await this.#settle(wanted.key, true);
      return outcome instanceof Unshared ? undefined : outcome;
    } catch (error) {
      await this.#settle(wanted.key, false);
      throw error;
    }
  }

  /** Whether this process makes the new value. */
  async #claim(key: string, old: Answer): Promise<boolean> {
    const { claim } = this.#store;
    if (claim === undefined) return true;
    try {
      const claimed = claim.call(this.#store, key + claimSuffix, claimMs);
      const isOurs = await this.#health.withinDeadline(key, Promise.resolve(claimed));
      if (!isOurs) return false;
      // Another process may have replaced the value after this one has read it.
      const found = this.#store.get(key);
      const raw = await this.#health.withinDeadline(key, Promise.resolve(found));
      if (typeof raw === 'string' && raw.endsWith(old.seal)) return true;
      await this.#settle(key, true);
      return false;
    } catch (error) {
      // The old value is still good, and the next caller tries again.
      this.#health.refuse(key, error);
      return false;
    }
  }

  async #settle(key: string, isDone: boolean): Promise<void> {
    if (this.#store.claim === undefined) return;
    const own = key + claimSuffix;
    try {
      const settled = isDone ? this.#store.set(own, '0', settledMs) : this.#store.delete(own);
      await this.#health.withinDeadline(key, Promise.resolve(settled));
    } catch {
      // It ends by itself.
    }
  }
}
