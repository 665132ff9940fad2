import type { JobFailure } from '../job/job-counts.ts';
import type { JobStats } from '../sink-queue/queue-counts.ts';
import type { ListedJob } from './read-directory.ts';

export interface ListedName extends JobStats {
  readonly sink: string;
}

/** Returns the jobs of a directory by sink and name. Attempts of finished jobs have left no trace in it. */
export function jobsByName(jobs: readonly ListedJob[]): ListedName[] {
  const kinds = Map.groupBy(jobs, ({ record }) => `${record.sink}\n${record.job}`);
  return [...kinds.values()].map((kind) => {
    const { sink, job } = kind[0]!.record;
    const waiting = kind.filter(({ state }) => state === 'waiting');
    const dead = kind.filter(({ state }) => state === 'dead');
    const failures =
      sumOf(waiting.map(({ failures: tries }) => tries)) +
      sumOf(dead.map(({ record }) => record.attempt));
    return {
      sink,
      job,
      depth: waiting.length,
      oldestAtMs: minOf(waiting.map(({ record }) => record.deferredAtMs)),
      attempts: failures,
      failures,
      dead: dead.length,
      lastFailure: lastOf(dead),
    };
  });
}

function lastOf(dead: readonly ListedJob[]): JobFailure | undefined {
  let last: JobFailure | undefined;
  for (const { reason = '', diedAtMs: atMs = 0 } of dead) {
    if (last !== undefined && last.atMs > atMs) continue;
    last = { message: reason.split('\n', 1)[0]!, atMs };
  }
  return last;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function minOf(values: readonly number[]): number | undefined {
  return values.reduce<number | undefined>(
    (min, value) => (min === undefined ? value : Math.min(min, value)),
    undefined,
  );
}
