import type { DeferStats } from '../sink-queue/sink-stats.ts';
import type { Deferrer } from '../deferrer.ts';
import type { JobStats, QueueCounts } from '../sink-queue/queue-counts.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { waitReasons } from '../sink-queue/sink-queue-view.ts';

export type Sample = [value: number, labels: Record<string, string>];

/** A metric of a deferrer, for whichever format it is exported in. */
export interface Metric {
  /** With dots between its words, and without the prefix: `oldest.age`. */
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly unit: 's' | 'By' | '{job}' | '{try}' | undefined;
  readonly samples: () => Sample[];
}

const counts = {
  deferred: 'Jobs being sent.',
  sent: 'Jobs the sink has acknowledged.',
  retried: 'Jobs retried after a failure.',
  resent: 'Jobs sent again because the sink was unavailable.',
  replayed: 'Jobs sent again because the server of the sink restarted.',
  dead: 'Jobs that failed for good.',
  spilled: 'Jobs kept on disk only.',
  rejected: 'Jobs refused because the queue was full.',
  batches: 'Batches sent.',
  failures: 'Batches that found the sink unavailable.',
} satisfies Partial<Record<keyof QueueCounts, string>>;

export function queuesOf(deferrer: Deferrer): SinkQueue[] {
  return [...deferrer.queues.values(), deferrer.afterQueue];
}

/** Returns all metrics but the lag, which the formats express differently. `stats` is read once for each of them. */
export function metricsOf(
  deferrer: Deferrer,
  stats: () => DeferStats = () => deferrer.stats(),
): Metric[] {
  const sinks = ofSinks(deferrer);
  const jobs = ofJobs(stats);
  const ageOf = (atMs: number | undefined): number =>
    atMs === undefined ? 0 : Math.max(0, deferrer.clock.wall() - atMs) / 1_000;
  const metrics = [
    gauge(
      'depth',
      '{job}',
      'Jobs not yet delivered.',
      sinks(({ depth }) => depth),
    ),
    gauge(
      'loaded',
      '{job}',
      'Of these, jobs in memory.',
      sinks(({ loaded }) => loaded),
    ),
    gauge(
      'oldest.age',
      's',
      'Age of the oldest job not yet delivered.',
      sinks(({ oldestAtMs }) => ageOf(oldestAtMs)),
    ),
    gauge(
      'breaker.open',
      undefined,
      '1 while the sink is unavailable.',
      sinks(({ isBreakerOpen }) => Number(isBreakerOpen)),
    ),
    gauge(
      'delayed',
      '{job}',
      'Jobs scheduled for later.',
      sinks(({ delayed }) => delayed.jobs),
    ),
    gauge('waiting', undefined, '1 for the reason why the jobs of a sink wait.', () =>
      stats().sinks.flatMap(({ name: sink, waiting }) =>
        waitReasons.map((reason): Sample => [Number(waiting?.reason === reason), { sink, reason }]),
      ),
    ),
    counter('dropped', undefined, 'Jobs lost.', () =>
      queuesOf(deferrer).flatMap(({ name: sink, stats: { dropped } }) =>
        Object.entries(dropped).map(([reason, count]): Sample => [count, { sink, reason }]),
      ),
    ),
    gauge(
      'job.depth',
      '{job}',
      'Jobs of a name not yet delivered.',
      jobs(({ depth }) => depth),
    ),
    gauge(
      'job.oldest.age',
      's',
      'Age of the oldest job of a name not yet delivered.',
      jobs(({ oldestAtMs }) => ageOf(oldestAtMs)),
    ),
    counter(
      'job.attempts',
      '{try}',
      'Attempts of jobs of a name, successful or not.',
      jobs(({ attempts }) => attempts),
    ),
    counter(
      'job.failures',
      '{try}',
      'Failed attempts of jobs of a name.',
      jobs(({ failures }) => failures),
    ),
    counter(
      'job.dead',
      '{job}',
      'Jobs of a name that failed for good.',
      jobs(({ dead }) => dead),
    ),
    gauge(
      'job.last_failure.timestamp',
      's',
      'Time of the last failure of a job of a name.',
      jobs(({ lastFailure }) => lastFailure && lastFailure.atMs / 1_000),
    ),
    gauge('dead_letters', undefined, 'Dead letters.', () => [[deferrer.deadLetters.size, {}]]),
    counter(
      'unattributed',
      undefined,
      'Jobs whose request was unknown while requests were open.',
      () => [[deferrer.intake.unattributedJobs, {}]],
    ),
    counter(
      'withdrawn',
      undefined,
      'Jobs withdrawn because of the outcome of their request.',
      () => [[deferrer.intake.withdrawnJobs, {}]],
    ),
  ];
  for (const [name, help] of Object.entries(counts)) {
    const count = (queue: SinkQueue): number => queue.stats[name as keyof typeof counts];
    metrics.push(counter(name, undefined, help, sinks(count)));
  }
  if (deferrer.journalBytes !== undefined) {
    const bytes = (): Sample[] => [[deferrer.journalBytes!, {}]];
    metrics.push(gauge('journal.size', 'By', 'Bytes of the journals of this process.', bytes));
  }
  return metrics;
}

function gauge(name: string, unit: Metric['unit'], help: string, samples: () => Sample[]): Metric {
  return { name, type: 'gauge', help, unit, samples };
}

function counter(
  name: string,
  unit: Metric['unit'],
  help: string,
  samples: () => Sample[],
): Metric {
  return { name, type: 'counter', help, unit, samples };
}

function ofSinks(deferrer: Deferrer) {
  return (value: (queue: SinkQueue) => number) => (): Sample[] =>
    queuesOf(deferrer).map((queue) => [value(queue), { sink: queue.name }]);
}

function ofJobs(stats: () => DeferStats) {
  return (value: (job: JobStats) => number | undefined) => (): Sample[] =>
    stats().sinks.flatMap(({ name: sink, jobs }) =>
      jobs.flatMap((job): Sample[] => {
        const figure = value(job);
        return figure === undefined ? [] : [[figure, { sink, job: job.job }]];
      }),
    );
}
