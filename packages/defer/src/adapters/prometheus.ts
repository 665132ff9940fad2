import type { Deferrer } from '../deferrer.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { type JobStats, lagBuckets } from '../sink-queue/queue-counts.ts';
import { waitReasons } from '../sink-queue/why-waiting.ts';

/**
 * Returns the metrics in the text format of Prometheus (0.0.4), for the app's own `/metrics`.
 *
 * @example
 * ```ts
 * app.get('/metrics', () => prometheusMetrics(deferrer));
 * ```
 */
export function prometheusMetrics(deferrer: Deferrer): string {
  const queues = [...deferrer.queues.values(), deferrer.afterQueue];
  const { sinks, unattributed, withdrawn } = deferrer.stats();
  const nowMs = deferrer.clock.wall();
  const text: string[] = [];
  const write = (
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    lines: string[],
  ): void => {
    text.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines);
  };
  const each = (name: string, value: (queue: SinkQueue) => number): string[] =>
    queues.map((queue) => `${name}{sink="${escape(queue.name)}"} ${value(queue)}`);
  const counter = (name: string, help: string, value: (queue: SinkQueue) => number): void => {
    write(name, 'counter', help, each(name, value));
  };
  const gauge = (name: string, help: string, value: (queue: SinkQueue) => number): void => {
    write(name, 'gauge', help, each(name, value));
  };
  gauge('redline_defer_depth', 'Jobs not yet delivered.', (queue) => queue.depth);
  gauge('redline_defer_loaded', 'Of these, jobs in memory.', (queue) => queue.loaded);
  gauge(
    'redline_defer_oldest_age_seconds',
    'Age of the oldest job not yet delivered.',
    ({ oldestAtMs }) => (oldestAtMs === undefined ? 0 : Math.max(0, nowMs - oldestAtMs) / 1_000),
  );
  gauge('redline_defer_breaker_open', '1 while the sink is unavailable.', (queue) =>
    Number(queue.isBreakerOpen),
  );
  counter('redline_defer_deferred_total', 'Jobs being sent.', ({ stats }) => stats.deferred);
  counter('redline_defer_sent_total', 'Jobs the sink has acknowledged.', ({ stats }) => stats.sent);
  counter(
    'redline_defer_retried_total',
    'Jobs retried after a failure.',
    ({ stats }) => stats.retried,
  );
  counter(
    'redline_defer_resent_total',
    'Jobs sent again because the sink was unavailable.',
    ({ stats }) => stats.resent,
  );
  counter(
    'redline_defer_replayed_total',
    'Jobs sent again because the server of the sink restarted.',
    ({ stats }) => stats.replayed,
  );
  counter('redline_defer_dead_total', 'Jobs that failed for good.', ({ stats }) => stats.dead);
  counter('redline_defer_spilled_total', 'Jobs kept on disk only.', ({ stats }) => stats.spilled);
  counter(
    'redline_defer_rejected_total',
    'Jobs refused because the queue was full.',
    ({ stats }) => stats.rejected,
  );
  write(
    'redline_defer_dropped_total',
    'counter',
    'Jobs lost.',
    queues.flatMap((queue) =>
      Object.entries(queue.stats.dropped).map(
        ([reason, count]) =>
          `redline_defer_dropped_total{sink="${escape(queue.name)}",reason="${reason}"} ${count}`,
      ),
    ),
  );
  counter('redline_defer_batches_total', 'Batches sent.', ({ stats }) => stats.batches);
  counter(
    'redline_defer_failures_total',
    'Batches that found the sink unavailable.',
    ({ stats }) => stats.failures,
  );
  write(
    'redline_defer_lag_seconds',
    'histogram',
    'From the call to the acknowledgement of the sink.',
    queues.flatMap(lagLines),
  );
  write(
    'redline_defer_delayed',
    'gauge',
    'Jobs scheduled for later.',
    sinks.map(({ name, delayed }) => `redline_defer_delayed{sink="${escape(name)}"} ${delayed}`),
  );
  write(
    'redline_defer_waiting',
    'gauge',
    '1 for the reason why the jobs of a sink wait.',
    sinks.flatMap(({ name, waiting }) =>
      waitReasons.map(
        (reason) =>
          `redline_defer_waiting{sink="${escape(name)}",reason="${reason}"} ${Number(waiting?.reason === reason)}`,
      ),
    ),
  );
  const byJob = (
    name: string,
    type: 'counter' | 'gauge',
    help: string,
    value: (job: JobStats) => number | undefined,
  ): void => {
    const lines = sinks.flatMap((sink) =>
      sink.jobs.flatMap((job) => {
        const figure = value(job);
        if (figure === undefined) return [];
        return `${name}{sink="${escape(sink.name)}",job="${escape(job.job)}"} ${figure}`;
      }),
    );
    write(name, type, help, lines);
  };
  byJob(
    'redline_defer_job_depth',
    'gauge',
    'Jobs of a name not yet delivered.',
    (job) => job.depth,
  );
  byJob(
    'redline_defer_job_oldest_age_seconds',
    'gauge',
    'Age of the oldest job of a name not yet delivered.',
    ({ oldestAtMs }) => (oldestAtMs === undefined ? 0 : Math.max(0, nowMs - oldestAtMs) / 1_000),
  );
  byJob(
    'redline_defer_job_attempts_total',
    'counter',
    'Attempts of jobs of a name, successful or not.',
    (job) => job.attempts,
  );
  byJob(
    'redline_defer_job_failures_total',
    'counter',
    'Failed attempts of jobs of a name.',
    (job) => job.failures,
  );
  byJob(
    'redline_defer_job_dead_total',
    'counter',
    'Jobs of a name that failed for good.',
    (job) => job.dead,
  );
  byJob(
    'redline_defer_job_last_failure_timestamp_seconds',
    'gauge',
    'Time of the last failure of a job of a name.',
    ({ lastFailure }) => lastFailure && lastFailure.atMs / 1_000,
  );
  write('redline_defer_dead_letters', 'gauge', 'Dead letters.', [
    `redline_defer_dead_letters ${deferrer.deadLetters.size}`,
  ]);
  write(
    'redline_defer_unattributed_total',
    'counter',
    'Jobs whose request was unknown while requests were open.',
    [`redline_defer_unattributed_total ${unattributed}`],
  );
  write(
    'redline_defer_withdrawn_total',
    'counter',
    'Jobs withdrawn because of the outcome of their request.',
    [`redline_defer_withdrawn_total ${withdrawn}`],
  );
  if (deferrer.journalBytes !== undefined) {
    write('redline_defer_journal_bytes', 'gauge', 'Bytes of the journals of this process.', [
      `redline_defer_journal_bytes ${deferrer.journalBytes}`,
    ]);
  }
  return `${text.join('\n')}\n`;
}

function lagLines(queue: SinkQueue): string[] {
  const sink = `sink="${escape(queue.name)}"`;
  const { lag, lagSumSeconds } = queue.stats;
  let count = 0;
  const lines = lag.map((jobs, bucket) => {
    count += jobs;
    const le = lagBuckets[bucket] ?? '+Inf';
    return `redline_defer_lag_seconds_bucket{${sink},le="${le}"} ${count}`;
  });
  return [
    ...lines,
    `redline_defer_lag_seconds_sum{${sink}} ${lagSumSeconds}`,
    `redline_defer_lag_seconds_count{${sink}} ${count}`,
  ];
}

function escape(label: string): string {
  return label.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
