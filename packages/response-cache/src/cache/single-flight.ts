import { Answer, Shared, hardNameOf } from '../answer/answer.ts';
import { checkTags, positiveInteger } from '../validate.ts';
import {
  type AnswerOptions,
  type Kept,
  type Outcome,
  type Producer,
  Unshared,
} from '../answer/answer-options.ts';
import { PendingRun } from './pending-run.ts';
import type { Count, Counters, Tally } from '../stats.ts';
import type { StoreHealth } from '../outages/store-health.ts';
import type { StoreWriter, WritePermit } from './store-writer.ts';
import { toJson } from '../answer/to-json.ts';

/* Time a run accepts callers: a producer that never settles would otherwise block its key for good. */
const joinableMs = 30_000;

/** A caller's request: the key of a value, and the producer for when the store lacks it. */
export interface Wanted {
  readonly key: string;
  readonly produce: Producer;
  readonly options: AnswerOptions;
}

/** Runs producers, each once for all waiting callers, and stores their responses. */
export class SingleFlight {
  readonly #writer: StoreWriter;
  readonly #health: StoreHealth;
  readonly #counters: Counters;
  readonly #count: Count;
  readonly #ttl: number;
  /** Prefix of the tags of this cache. */
  readonly tagPrefix: string;
  readonly #runs = new Map<string, PendingRun>();
  /** Reads the store once more, for a value made by another process. */
  lookAgain!: (key: string, produce: Producer, options: AnswerOptions) => Kept | Promise<Outcome>;

  constructor(
    writer: StoreWriter,
    health: StoreHealth,
    tally: Tally,
    defaults: { ttl: number; keyPrefix: string },
  ) {
    this.#writer = writer;
    this.#health = health;
    this.#counters = tally.counters;
    this.#count = tally.count;
    this.#ttl = defaults.ttl;
    this.tagPrefix = defaults.keyPrefix;
  }

  /** Returns the pending run that serves `key`; one that takes too long accepts no more callers. */
  running(key: string): PendingRun | undefined {
    // Usually nothing runs, and the hash of a long key costs more than the rest of this.
    if (this.#runs.size === 0) return undefined;
    const run = this.#runs.get(key);
    if (run === undefined) return undefined;
    if (performance.now() - run.startedAt < joinableMs) return run;
    this.#forgetRun(run);
    return undefined;
  }

  /** Waits for `run`; `isLast` is true if the run that this caller waited for earlier has failed. */
  join(
    run: PendingRun,
    produce: Producer,
    options: AnswerOptions,
    isLast = false,
  ): Promise<Outcome> {
    return run.promise.then(
      (outcome) => {
        if (run.isMadeElsewhere) return this.lookAgain(run.key, produce, options);
        const isNotForAll = outcome instanceof Unshared || (run.isSuperseded && isLast);
        if (isNotForAll) return this.#produceAlone(run.key, produce, options);
        if (run.isSuperseded) return this.#joinNext(run.key, produce, options);
        this.#counters.shared += 1;
        return outcome;
      },
      (error: unknown) => {
        // The failure may be specific to the first caller.
        const isAbandoned = run.options.isAbandoned?.() === true;
        if (isLast && !isAbandoned) throw error;
        return this.#joinNext(run.key, produce, options, !isAbandoned);
      },
    );
  }

  #joinNext(
    key: string,
    produce: Producer,
    options: AnswerOptions,
    isLast = true,
  ): Promise<Outcome> {
    const running = this.running(key);
    if (running !== undefined) return this.join(running, produce, options, isLast);
    const as = this.#health.isDown ? 'bypasses' : 'misses';
    return this.start({ key, produce, options }, as, '');
  }

  /** @param outdated the end of the outdated value in the store; undefined if it was not written by this cache */
  start(wanted: Wanted, as: 'misses' | 'bypasses', outdated: string | undefined): Promise<Outcome> {
    const { key, produce, options } = wanted;
    const run = this.#startRun(wanted, as, outdated);
    return run.promise.then((outcome) =>
      run.isMadeElsewhere ? this.lookAgain(key, produce, options) : outcome,
    );
  }

  /** Produces the replacement of `old`, which stands in if that fails. */
  renew(wanted: Wanted, old: Answer): Promise<Outcome> {
    const { key, options } = wanted;
    const run = this.#startRun(wanted, undefined, '', old);
    return run.promise.then(
      (outcome) => {
        this.#count('misses', key);
        return outcome;
      },
      (error: unknown) => {
        const standsIn = !run.isOutdated && options.staleOnError?.(error) !== false;
        this.#count(standsIn ? 'stale' : 'misses', key);
        if (standsIn) return old;
        throw error;
      },
    );
  }

  /** Same as `renew`, but in the background: it counts no miss, and leaves a failure to the caller. */
  renewBehind(wanted: Wanted, old: Answer): Promise<Outcome> {
    return this.#startRun(wanted, undefined, '', old).promise;
  }

  #startRun(
    { key, produce, options }: Wanted,
    as: 'misses' | 'bypasses' | undefined,
    outdated: string | undefined,
    renews?: Answer,
  ): PendingRun {
    const run = new PendingRun(key, options, outdated, renews);
    this.#runs.set(key, run);
    void this.#produce(run, produce, as);
    return run;
  }

  /** Keeps a response being produced for `key` now out of the store and away from later callers. */
  forget(key: string): void {
    const run = this.#runs.get(key);
    if (run !== undefined) this.#forgetRun(run);
  }

  /** Same as `forget`, for every response that has, or may have, one of `tags`. */
  forgetTagged(tags: ReadonlySet<string>): void {
    for (const run of this.#runs.values()) if (run.hasOneOf(tags)) this.#forgetRun(run);
  }

  /** Same as `forget`, for all keys that `isMeant` accepts. */
  forgetWhere(isMeant: (key: string) => boolean): void {
    for (const run of this.#runs.values()) if (isMeant(run.key)) this.#forgetRun(run);
  }

  forgetAll(): void {
    for (const run of this.#runs.values()) this.#forgetRun(run);
  }

  async #produce(
    run: PendingRun,
    produce: Producer,
    as: 'misses' | 'bypasses' | undefined,
  ): Promise<void> {
    const { key, options } = run;
    let permit: WritePermit | 'made' | undefined;
    try {
      const ttl = positiveInteger('ttl', options.ttl ?? this.#ttl);
      if (options.tags !== true) checkTags(options.name ?? key, options.tags);
      const requested = this.#writer.requestPermit(run);
      permit = requested instanceof Promise ? await requested : requested;
      if (permit === 'made') {
        run.isMadeElsewhere = true;
        this.#removeRun(run);
        run.resolve('');
        return;
      }
      if (as !== undefined) this.#count(as, key);
      const startedAt = performance.now();
      const value = await produce();
      if (value instanceof Unshared) {
        this.#counters.unshared += 1;
        void permit.lease?.release().catch(() => {});
        this.#removeRun(run);
        run.resolve(value);
        return;
      }
      const ownTtl = (value instanceof Shared ? value.details.ttl : undefined) ?? ttl;
      if (ownTtl !== 0) positiveInteger('ttl', ownTtl);
      const costMs = performance.now() - startedAt;
      const made = this.#toAnswer(key, value, options, { freshMs: ownTtl, costMs });
      const lifetimeMs = ownTtl === 0 ? 0 : ownTtl + (options.stale ?? 0);
      const kept = this.#writer.write(run, made, lifetimeMs, permit);
      if (kept !== undefined && 'before' in kept) await kept.before;
      // A lookup sent before the answer was stored also completes before that: a caller that finds nothing must still
      // find the run. So it is removed once the store has taken the answer.
      const isDone = kept === undefined || 'before' in kept;
      if (isDone) this.#removeRun(run);
      run.resolve(made);
      if (!isDone) await kept.after;
    } catch (error) {
      if (typeof permit === 'object') void permit.lease?.release().catch(() => {});
      // Before the rejection, because its callers then look for the next run.
      this.#removeRun(run);
      run.reject(error);
    }
    this.#removeRun(run);
  }

  /* The result is not stored: unlike with a shared run, delete() could not stop it from storing an outdated value. */
  async #produceAlone(key: string, produce: Producer, options: AnswerOptions): Promise<Outcome> {
    this.#count('misses', key);
    const startedAt = performance.now();
    const value = await produce();
    const costMs = performance.now() - startedAt;
    if (!(value instanceof Unshared))
      return this.#toAnswer(key, value, options, { freshMs: this.#ttl, costMs });
    this.#counters.unshared += 1;
    return value;
  }

  #toAnswer(
    key: string,
    value: unknown,
    options: AnswerOptions,
    { freshMs, costMs }: Pick<Answer, 'freshMs' | 'costMs'>,
  ): Kept {
    const name = options.name ?? `the key "${key}"`;
    const serialize = options.serialize ?? JSON.stringify;
    const details = value instanceof Shared ? value.details : undefined;
    const json =
      details?.json ?? toJson(value instanceof Shared ? value.value : value, name, serialize);
    checkTags(name, details?.tags);
    const head = details?.head ?? '';
    const named = options.tags === true ? [] : (options.tags ?? []);
    const own = [...new Set([...named, ...(details?.tags ?? [])])].map(
      (tag) => this.tagPrefix + tag,
    );
    const tags = options.stale ? [...own, ...own.map(hardNameOf)] : own;
    const isPlain = head === '' && tags.length === 0 && !options.dated;
    if (isPlain && !options.stale && !options.early) return json;
    const facts = { head, madeAt: Date.now(), freshMs, costMs: Math.round(costMs), tags };
    return new Answer(json, { ...facts, versions: [] }, 'made');
  }

  #removeRun(run: PendingRun): void {
    // Once it is outdated, another one may run under the key.
    if (this.#runs.get(run.key) === run) this.#runs.delete(run.key);
  }

  #forgetRun(run: PendingRun): void {
    run.isOutdated = true;
    this.#removeRun(run);
  }
}
