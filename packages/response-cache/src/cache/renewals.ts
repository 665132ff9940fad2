import type { Answer } from '../answer/answer.ts';
import { type Outcome, Unshared } from '../answer/answer-options.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import type { JsonStore } from '../store/json-store.ts';
import type { SingleFlight, Wanted } from './single-flight.ts';

/* Same as the time a run accepts new callers. A process that dies during a renewal delays the next by no more than this. */
const claimMs = 30_000;
/* A process that read the old value shortly before it was replaced finds the claim taken. */
const maxLingerMs = 1_000;
/* Pause before requesting a claim again that another process holds. */
const pauseMs = 250;
const claimSuffix = ':redline-renewal';

interface Pending {
  readonly renewal: Promise<Outcome | undefined>;
  readonly startedAt: number;
}

/** Renews each key in one process at a time, among all that share a store with `claim`. */
export class Renewals {
  readonly #store: JsonStore;
  readonly #health: StoreHealth;
  readonly #singleFlight: SingleFlight;
  readonly #reportFailure: (key: string, error: unknown) => void;
  readonly #pending = new Map<string, Pending>();
  /* Keys whose claim a caller waits for, or was refused a moment ago. */
  readonly #asked = new Set<string>();

  constructor(
    store: JsonStore,
    health: StoreHealth,
    singleFlight: SingleFlight,
    reportFailure: (key: string, error: unknown) => void,
  ) {
    this.#store = store;
    this.#health = health;
    this.#singleFlight = singleFlight;
    this.#reportFailure = reportFailure;
  }

  /**
   * Has the caller itself make the replacement of `old`, which it gets if its producer fails; returns undefined while another
   * caller or process makes it.
   */
  make(wanted: Wanted, old: Answer): Promise<Outcome | undefined> | undefined {
    const { key } = wanted;
    if (this.#store.claim === undefined) return this.#singleFlight.renew(wanted, old);
    if (this.#asked.has(key)) return undefined;
    this.#asked.add(key);
    const end = (): void => void this.#asked.delete(key);
    return this.#claim(key, old).then((isOurs) => {
      if (!isOurs) {
        // Each stale hit would otherwise ask the store.
        setTimeout(end, pauseMs).unref();
        return undefined;
      }
      end();
      return this.#whileClaimed(wanted, old, () => this.#singleFlight.renew(wanted, old), 0);
    });
  }

  /** Makes the replacement of `old` in the background; undefined if another process makes it, or it fails. Never rejects. */
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
        this.#reportFailure(key, error);
        return undefined;
      },
    );
    const started: Pending = { renewal, startedAt: performance.now() };
    this.#pending.set(key, started);
    return renewal;
  }

  async #renew(wanted: Wanted, old: Answer): Promise<Outcome | undefined> {
    if (!(await this.#claim(wanted.key, old))) return undefined;
    const make = (): Promise<Outcome> => this.#singleFlight.renewBehind(wanted, old);
    const outcome = await this.#whileClaimed(wanted, old, make, maxLingerMs);
    return outcome instanceof Unshared ? undefined : outcome;
  }

  /**
   * Calls `make`, unless a caller that found nothing has started a run meanwhile: a `delete` has to reach that one.
   *
   * @param unsharedMs time the claim stays after a result that is not shared
   */
  async #whileClaimed(
    { key }: Wanted,
    old: Answer,
    make: () => Promise<Outcome>,
    unsharedMs: number,
  ): Promise<Outcome | undefined> {
    let lingerMs = 0;
    try {
      if (this.#singleFlight.running(key) !== undefined) return undefined;
      const outcome = await make();
      if (outcome instanceof Unshared) lingerMs = unsharedMs;
      // A value with a shorter lifetime is due again by then.
      else if (outcome !== old)
        lingerMs =
          typeof outcome === 'string' ? maxLingerMs : Math.min(maxLingerMs, outcome.freshMs);
      return outcome;
    } finally {
      // Not awaited, so the response does not wait for it.
      void this.#endClaim(key, lingerMs);
    }
  }

  /** Resolves to true if this process makes the new value. */
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
      void this.#endClaim(key, Math.min(maxLingerMs, old.freshMs));
      return false;
    } catch (error) {
      // The old value is still good, and the next caller tries again.
      this.#health.refuse(key, error);
      return false;
    }
  }

  /** @param lingerMs time the claim stays; with 0 it ends at once */
  async #endClaim(key: string, lingerMs: number): Promise<void> {
    if (this.#store.claim === undefined) return;
    const own = key + claimSuffix;
    try {
      const ended = lingerMs > 0 ? this.#store.set(own, '0', lingerMs) : this.#store.delete(own);
      await this.#health.withinDeadline(key, Promise.resolve(ended));
    } catch {
      // The claim ends by itself.
    }
  }
}
