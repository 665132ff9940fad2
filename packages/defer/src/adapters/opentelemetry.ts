import type { Attributes, Context, Meter, Observable, TextMapPropagator } from '@opentelemetry/api';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Deferrer } from '../deferrer.ts';
import type { JobStats } from '../sink-queue/queue-counts.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { waitReasons } from '../sink-queue/why-waiting.ts';
import type { ContextOptions } from '../options.ts';
import { jobSpans } from './open-telemetry-spans.ts';

/**
 * Returns `createDefer`'s option `context`: every job carries the active trace context, which is active again where the job
 * runs, in its own span. Sinks with headers pass `traceparent` to their workers, and have a span for each
 * batch. See `jobSpans` for names and attributes.
 *
 * @example
 * ```ts
 * const deferrer = createDefer({ sinks, context: openTelemetryContext() });
 * ```
 */
export function openTelemetryContext(propagator?: TextMapPropagator): ContextOptions {
  const inject = (active: Context, carrier: Record<string, string>): void => {
    if (propagator === undefined) propagation.inject(active, carrier);
    else propagator.inject(active, carrier, setter);
  };
  const extract = (carrier: object): Context =>
    propagator === undefined
      ? propagation.extract(ROOT_CONTEXT, carrier)
      : propagator.extract(ROOT_CONTEXT, carrier, getter);
  return {
    capture() {
      const carrier: Record<string, string> = {};
      inject(context.active(), carrier);
      return carrier;
    },
    restore: (captured, work) => context.with(extract(captured), work),
    spans: jobSpans(extract),
  };
}

const setter = {
  set: (carrier: Record<string, string>, name: string, value: string): void => {
    carrier[name] = value;
  },
};

const getter = {
  get: (carrier: Record<string, string>, name: string): string | undefined => carrier[name],
  keys: (carrier: object): string[] => Object.keys(carrier),
};

/**
 * Makes the meter observe the deferrer. Returns a function that stops it.
 *
 * `redline.defer.depth`, `.oldest.age` (s), `.deferred`, `.sent`, `.retried`, `.resent`, `.replayed`, `.dead`,
 * `.dropped` (by `reason`), `.spilled`, `.rejected`, `.failures`, `.lag` (mean since the last observation, s),
 * `.unattributed`, `.withdrawn`, `.dead_letters`, `.journal.size` (By); all but the last four by `sink`. `.job.depth`,
 * `.job.oldest.age` (s), `.job.attempts`, `.job.failures` and `.job.dead` by `sink` and `job`; `.waiting` by `sink` and
 * `reason`.
 *
 * @example
 * ```ts
 * const stop = observeDefer(deferrer, metrics.getMeter('shop'));
 * ```
 */
export function observeDefer(deferrer: Deferrer, meter: Meter): () => void {
  const queues = (): SinkQueue[] => [...deferrer.queues.values(), deferrer.afterQueue];
  const ends: (() => void)[] = [];
  const observe = (
    instrument: Observable<Attributes>,
    values: () => Iterable<[value: number, attributes: Attributes]>,
  ): void => {
    const callback: Parameters<typeof instrument.addCallback>[0] = (result) => {
      for (const [value, attributes] of values()) result.observe(value, attributes);
    };
    instrument.addCallback(callback);
    ends.push(() => instrument.removeCallback(callback));
  };
  const each = function* (value: (queue: SinkQueue) => number): Generator<[number, Attributes]> {
    for (const queue of queues()) yield [value(queue), { sink: queue.name }];
  };
  const counter = (
    name: string,
    description: string,
    value: (queue: SinkQueue) => number,
  ): void => {
    const instrument = meter.createObservableCounter(`redline.defer.${name}`, { description });
    observe(instrument, () => each(value));
  };
  const gauge = (
    name: string,
    description: string,
    unit: string,
    value: (queue: SinkQueue) => number,
  ): void => {
    const instrument = meter.createObservableGauge(`redline.defer.${name}`, { description, unit });
    observe(instrument, () => each(value));
  };

  gauge('depth', 'Jobs not yet delivered.', '{job}', (queue) => queue.depth);
  gauge('oldest.age', 'Age of the oldest job not yet delivered.', 's', ({ oldestAtMs }) =>
    oldestAtMs === undefined ? 0 : Math.max(0, deferrer.clock.wall() - oldestAtMs) / 1_000,
  );
  gauge('lag', 'Mean time from the call to the acknowledgement of the sink.', 's', meanLag());
  const byJob = function* (
    value: (job: JobStats) => number | undefined,
  ): Generator<[number, Attributes]> {
    for (const { name, jobs } of deferrer.stats().sinks) {
      for (const job of jobs) {
        const figure = value(job);
        if (figure !== undefined) yield [figure, { sink: name, job: job.job }];
      }
    }
  };
  const ofJobs = (
    name: string,
    kind: 'Gauge' | 'Counter',
    unit: string,
    description: string,
    value: (job: JobStats) => number | undefined,
  ): void => {
    const instrument = meter[`createObservable${kind}`](`redline.defer.job.${name}`, {
      description,
      unit,
    });
    observe(instrument, () => byJob(value));
  };
  ofJobs('depth', 'Gauge', '{job}', 'Jobs of a name not yet delivered.', (job) => job.depth);
  ofJobs('oldest.age', 'Gauge', 's', 'Age of the oldest of them.', ({ oldestAtMs }) =>
    oldestAtMs === undefined ? 0 : Math.max(0, deferrer.clock.wall() - oldestAtMs) / 1_000,
  );
  ofJobs('attempts', 'Counter', '{try}', 'Attempts, successful or not.', (job) => job.attempts);
  ofJobs('failures', 'Counter', '{try}', 'Failed attempts.', (job) => job.failures);
  ofJobs('dead', 'Counter', '{job}', 'Jobs that failed for good.', (job) => job.dead);
  observe(
    meter.createObservableGauge('redline.defer.waiting', {
      description: '1 for the reason why the jobs of a sink wait.',
    }),
    () =>
      deferrer
        .stats()
        .sinks.flatMap(({ name, waiting }) =>
          waitReasons.map((reason): [number, Attributes] => [
            Number(waiting?.reason === reason),
            { sink: name, reason },
          ]),
        ),
  );
  counter('deferred', 'Jobs being sent.', ({ stats }) => stats.deferred);
  counter('sent', 'Jobs the sink has acknowledged.', ({ stats }) => stats.sent);
  counter('retried', 'Jobs retried after a failure.', ({ stats }) => stats.retried);
  counter(
    'resent',
    'Jobs sent again because the sink was unavailable.',
    ({ stats }) => stats.resent,
  );
  counter(
    'replayed',
    'Jobs sent again because the server of the sink restarted.',
    ({ stats }) => stats.replayed,
  );
  counter('dead', 'Jobs that failed for good.', ({ stats }) => stats.dead);
  counter('spilled', 'Jobs kept on disk only.', ({ stats }) => stats.spilled);
  counter('rejected', 'Jobs refused because the queue was full.', ({ stats }) => stats.rejected);
  counter('failures', 'Batches that found the sink unavailable.', ({ stats }) => stats.failures);
  observe(
    meter.createObservableCounter('redline.defer.dropped', { description: 'Jobs lost.' }),
    () =>
      queues().flatMap((queue) =>
        Object.entries(queue.stats.dropped).map(([reason, count]): [number, Attributes] => [
          count,
          { sink: queue.name, reason },
        ]),
      ),
  );
  observe(
    meter.createObservableGauge('redline.defer.dead_letters', {
      description: 'Dead letters.',
    }),
    () => [[deferrer.deadLetters.size, {}]],
  );
  observe(
    meter.createObservableCounter('redline.defer.unattributed', {
      description: 'Jobs whose request was unknown while requests were open.',
    }),
    () => [[deferrer.intake.unattributedJobs, {}]],
  );
  observe(
    meter.createObservableCounter('redline.defer.withdrawn', {
      description: 'Jobs withdrawn because of the outcome of their request.',
    }),
    () => [[deferrer.intake.withdrawnJobs, {}]],
  );
  observe(
    meter.createObservableGauge('redline.defer.journal.size', {
      description: 'Bytes of the journals of this process.',
      unit: 'By',
    }),
    () => (deferrer.journalBytes === undefined ? [] : [[deferrer.journalBytes, {}]]),
  );
  return () => {
    for (const end of ends) end();
  };
}

/* OpenTelemetry has no observable histogram; the buckets are in the Prometheus text. */
function meanLag(): (queue: SinkQueue) => number {
  const seen = new WeakMap<SinkQueue, { sum: number; sent: number }>();
  return (queue) => {
    const { lagSumSeconds: sum, sent } = queue.stats;
    const before = seen.get(queue) ?? { sum: 0, sent: 0 };
    seen.set(queue, { sum, sent });
    return sent === before.sent ? 0 : (sum - before.sum) / (sent - before.sent);
  };
}
