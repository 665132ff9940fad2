import type { Clock, Timer } from '../clock.ts';
import type { DeferLogger } from '../logger.ts';
import type { Claim, Claims } from './claims.ts';
import type { Times } from './times.ts';

/** A job that is deferred repeatedly. */
export interface Schedule {
  /** The first part of the keys of its jobs: `NAME@2030-01-01T07:00:00.000Z`. */
  readonly name: string;
  /** The next moment it is due; undefined once it is stopped, or if no moment is left. */
  readonly next: Date | undefined;
  /** Defers no further jobs. Those that are deferred stay. */
  stop(): void;
}

export interface ScheduleHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  /** Undefined without a journal: then each process runs it. */
  readonly claims: Claims | undefined;
  /** The folder of this process's journal. */
  readonly owner: string;
  /** The interval at which moments that other processes took are checked, in milliseconds. */
  readonly lookEveryMs: number;
  /** True once the process of this journal has ended and its journal was adopted. */
  isGone(owner: string): Promise<boolean>;
  /** Defers the job with this key. Resolves when its level is reached. */
  defer(key: string): Promise<void>;
  stopped(schedule: Schedule): void;
}

/** A change of the wall clock is noticed within this time. */
const longestSleepMs = 60_000;
const againMs = 1_000;

export class RunningSchedule implements Schedule {
  readonly name: string;
  readonly #times: Times;
  readonly #host: ScheduleHost;
  /** The last moment that was handled. */
  #lastMs: number;
  #timer: Timer | undefined;
  readonly #watches = new Set<Timer>();
  #isStopped = false;
  #hasFailed = false;

  constructor(name: string, times: Times, isMissedRun: boolean, host: ScheduleHost) {
    this.name = name;
    this.#times = times;
    this.#host = host;
    const nowMs = host.clock.wall();
    const claims = this.#try(() => host.claims?.all(name)) ?? [];
    const isFirst = claims.length === 0;
    const lastMs = Math.max(...claims.map(({ tickMs }) => tickMs));
    this.#lastMs = isMissedRun && !isFirst ? Math.min(lastMs, nowMs) : nowMs;
    // The processes that took these may have ended before they deferred the job.
    for (const { isDone, tickMs } of claims) if (!isDone) this.#watch(tickMs, 0);
    this.#look();
  }

  get next(): Date | undefined {
    if (this.#isStopped) return undefined;
    const nextMs = this.#times.next(Math.max(this.#lastMs, this.#host.clock.wall()));
    return nextMs === undefined ? undefined : new Date(nextMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    for (const timer of this.#watches) timer.cancel();
    this.#host.stopped(this);
  }

  #look(): void {
    if (this.#isStopped) return;
    const { clock } = this.#host;
    const nowMs = clock.wall();
    const dueMs = this.#times.latest(nowMs);
    if (dueMs !== undefined && dueMs > this.#lastMs) {
      // If several have passed, only the last one is run.
      this.#lastMs = dueMs;
      this.#run(dueMs);
    }
    const nextMs = this.#times.next(nowMs);
    if (nextMs === undefined) return;
    const waitMs = Math.min(longestSleepMs, Math.max(1, nextMs - nowMs));
    this.#timer = clock.after(waitMs, () => this.#look(), false);
  }

  #run(tickMs: number): void {
    const { claims, owner } = this.#host;
    // If the files cannot be used, each process runs the moment: better than no run.
    const isOwn = claims === undefined || this.#try(() => claims.take(this.name, tickMs, owner));
    if (isOwn === false) this.#watch(tickMs, this.#host.lookEveryMs);
    else void this.#defer(tickMs);
  }

  async #defer(tickMs: number): Promise<void> {
    const { claims, owner } = this.#host;
    try {
      await this.#host.defer(keyOf(this.name, tickMs));
      this.#hasFailed = false;
    } catch (error) {
      if (this.#isStopped) return;
      if (!this.#hasFailed) {
        this.#host.logger.warn(`defer: the schedule ${this.name} is tried again.`, error);
      }
      this.#hasFailed = true;
      this.#later(againMs, () => void this.#defer(tickMs));
      return;
    }
    if (claims !== undefined) this.#try(() => claims.done(this.name, tickMs, owner));
  }

  /* Another process has the moment; this one takes it over if that one ends before it has deferred the job. */
  #watch(tickMs: number, afterMs: number): void {
    this.#later(afterMs, () => void this.#lookAfter(tickMs));
  }

  async #lookAfter(tickMs: number): Promise<void> {
    const claims = this.#host.claims!;
    const { owner, lookEveryMs } = this.#host;
    const read = (): Claim | undefined => this.#try(() => claims.read(this.name, tickMs));
    const claim = read();
    if (claim === undefined || claim.isDone || claim.owner === owner) return;
    const isGone = await this.#host.isGone(claim.owner).catch(() => false);
    if (this.#isStopped) return;
    if (!isGone) return this.#watch(tickMs, lookEveryMs);
    // The job may have been in the journal of that process.
    const now = read();
    if (now === undefined || now.isDone) return;
    if (this.#try(() => claims.takeFrom(claim, this.name, owner)) === true)
      void this.#defer(tickMs);
    else this.#watch(tickMs, lookEveryMs);
  }

  #later(ms: number, work: () => void): void {
    const timer = this.#host.clock.after(
      ms,
      () => {
        this.#watches.delete(timer);
        if (!this.#isStopped) work();
      },
      false,
    );
    this.#watches.add(timer);
  }

  #try<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!this.#hasFailed) {
        const sentence = `the files of the schedule ${this.name} cannot be used: each process defers its jobs`;
        this.#host.logger.warn(`defer: ${sentence}.`, error);
      }
      this.#hasFailed = true;
      return undefined;
    }
  }
}

export function keyOf(name: string, tickMs: number): string {
  return `${name}@${new Date(tickMs).toISOString()}`;
}

/** Returns undefined for a key that does not belong to a schedule. */
export function parseKey(key: string): { name: string; tickMs: number } | undefined {
  const [, name, time] = /^(.+)@(\d{4}-\d\d-\d\dT[\d:.]+Z)$/s.exec(key) ?? [];
  return name === undefined ? undefined : { name, tickMs: Date.parse(time!) };
}
