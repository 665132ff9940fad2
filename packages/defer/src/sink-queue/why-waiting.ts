import type { Clock } from '../clock.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Gathering } from './gathering.ts';
import type { ResolvedQueue } from './queue-options.ts';
import { messageOf } from '../thrown.ts';

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
