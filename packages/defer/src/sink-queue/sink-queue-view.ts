import type { SinkQueueHost } from './sink-queue-core.ts';
import type { ResolvedQueue } from './queue-options.ts';
import type { Admission } from './admission.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Backlogs } from './backlogs.ts';
import type { Delayed } from './delayed.ts';
import type { Gathering } from './gathering.ts';
import { jobStatsOf, type JobStats, type QueueCounts } from './queue-counts.ts';
import type { InFlightBatches } from './in-flight.ts';
import type { Parking } from './disk-reader.ts';
import type { CrashSuspects } from './failure-blame.ts';
import type { Clock } from '../clock.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { messageOf } from '../thrown.ts';

export interface SinkQueueViewParts {
  readonly options: ResolvedQueue;
  readonly host: SinkQueueHost;
  readonly stats: QueueCounts;
  readonly admission: Admission;
  readonly gathering: Gathering;
  readonly inFlight: InFlightBatches;
  readonly budget: MemoryBudget;
  readonly backlogs: Backlogs;
  readonly parking: Parking;
  readonly delayed: Delayed;
  readonly suspects: CrashSuspects;
}

/** Reports on the jobs of a queue: how many wait, where, since when and why. */
export class SinkQueueView {
  readonly #parts: SinkQueueViewParts;

  constructor(parts: SinkQueueViewParts) {
    this.#parts = parts;
  }

  get depth(): number {
    const { backlogs, budget, delayed, parking } = this.#parts;
    const { waiting, stuck } = backlogs;
    const { loaded, reserved } = budget;
    return loaded - delayed.inMemory + reserved + parking.length + waiting + stuck;
  }

  get waiting(): Waiting | undefined {
    const { admission, backlogs, gathering, host, inFlight, options, parking, budget, suspects } =
      this.#parts;
    if (this.depth === budget.reserved) return undefined;
    return whyWaiting(host.clock, {
      breaker: inFlight.breaker,
      gathering,
      options,
      batches: inFlight.size,
      isAlone: suspects.isAlone,
      awaitsOrphans: admission.awaitsOrphans,
      parked: parking.retrying,
      stuck: backlogs.stuck,
    });
  }

  get jobs(): JobStats[] {
    const { stats, backlogs, parking, gathering, suspects, inFlight } = this.#parts;
    const { byName } = stats;
    const { waiting, stuck } = backlogs;
    if (waiting + stuck + parking.length === 0) byName.nothingOnDisk();
    return jobStatsOf(byName, [...gathering, ...suspects, ...inFlight.jobs]);
  }

  get oldestAtMs(): number | undefined {
    const { gathering, inFlight, backlogs } = this.#parts;
    let oldest = gathering.oldestAtMs;
    const compare = (atMs: number | undefined): void => {
      if (atMs !== undefined && (oldest === undefined || atMs < oldest)) oldest = atMs;
    };
    for (const job of inFlight.firsts()) compare(job?.waitsSinceMs);
    for (const { oldestAtMs } of backlogs) compare(oldestAtMs);
    return oldest;
  }
}

/** Reasons why jobs of a sink wait, unless their batch is gathering. */
export const waitReasons = [
  /** The sink reports that it has no connection. */
  'unavailable',
  /** Sends failed, and the next one is scheduled. */
  'outage',
  /** Jobs left by exited processes are read first. */
  'orphans',
  /** A job that may have ended a process runs alone. */
  'suspect',
  /** The queue is ordered, and its first job waits for its next attempt. */
  'ordered',
  'rate',
  /** The maximum number of batches is being sent. */
  'in-flight',
  /** Each job waits for another with its key. */
  'key',
  /** All remaining jobs have failed and wait for their next attempt. */
  'retry',
  /** Files of the journal are currently unreadable. */
  'unreadable',
] as const;
export type WaitReason = (typeof waitReasons)[number];

export interface Waiting {
  readonly reason: WaitReason;
  /** In words, with the last error if there was one. */
  readonly sentence: string;
  /** Wall clock of the next attempt, if known. */
  readonly untilMs?: number;
}

export interface SinkQueueState {
  readonly breaker: CircuitBreaker;
  readonly gathering: Gathering;
  readonly options: ResolvedQueue;
  /** Batches on their way. */
  readonly batches: number;
  readonly isAlone: boolean;
  readonly awaitsOrphans: boolean;
  /** Jobs that wait on disk for their next attempt. */
  readonly parked: number;
  /** Jobs in files that are currently unreadable. */
  readonly stuck: number;
}

/** Returns why the jobs of a queue wait; the cause nearest to the sink first. */
export function whyWaiting(clock: Clock, state: SinkQueueState): Waiting | undefined {
  const { breaker, gathering, options, batches } = state;
  const now = clock.now();
  const until = (ms: number): { untilMs: number } => ({ untilMs: clock.wall() + ms });
  if (!breaker.isAvailable) {
    return { reason: 'unavailable', sentence: 'The sink has lost its connection.' };
  }
  if (breaker.isFailing) {
    const breakerMs = breaker.waitMs(now);
    const sentence = `The last send failed: ${messageOf(breaker.lastError).replace(/\.$/, '')}.`;
    return { reason: 'outage', sentence, ...(breakerMs !== undefined && until(breakerMs)) };
  }
  if (state.awaitsOrphans && gathering.isEmpty) {
    return { reason: 'orphans', sentence: 'Jobs left by exited processes are read first.' };
  }
  if (state.isAlone) {
    const sentence = 'A job that was running when a process exited runs alone.';
    return { reason: 'suspect', sentence };
  }
  const heldMs = gathering.heldMs(now);
  if (heldMs > 0) {
    return { reason: 'ordered', sentence: sentenceOfFirst(gathering), ...until(heldMs) };
  }
  if (batches >= options.inFlight) {
    const sentence = `${batches} of ${options.inFlight} batches are being sent.`;
    return { reason: 'in-flight', sentence };
  }
  if (!gathering.isEmpty) {
    const rateMs = gathering.pauseMs(now);
    if (rateMs === 0) return undefined;
    return { reason: 'rate', sentence: 'The rate limit allows no more for now.', ...until(rateMs) };
  }
  if (batches > 0 && gathering.waitingForKeys > 0) {
    const sentence = `${gathering.waitingForKeys} jobs wait for another of their key.`;
    return { reason: 'key', sentence };
  }
  if (batches > 0) return undefined;
  const retrying = gathering.retrying + state.parked;
  if (retrying > 0) {
    const { nextDueAtMs, waitingForKeys } = gathering;
    const behind = waitingForKeys === 0 ? '' : `; ${waitingForKeys} are behind them`;
    const sentence = `${retrying} jobs have failed and wait for their next attempt${behind}.`;
    const due = nextDueAtMs !== undefined && until(Math.max(0, nextDueAtMs - now));
    return { reason: 'retry', sentence, ...due };
  }
  if (state.stuck > 0) {
    const sentence = `${state.stuck} jobs are in files of the journal that cannot be read.`;
    return { reason: 'unreadable', sentence };
  }
  return undefined;
}

function sentenceOfFirst({ first }: Gathering): string {
  const { job, id, counts } = first ?? {};
  const error = counts?.lastFailure?.message ?? 'no reason is known';
  return `In order: the first job, ${job} ${id}, failed (${error}), and the others wait for it.`;
}
