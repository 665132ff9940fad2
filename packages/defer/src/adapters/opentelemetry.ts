import type {
  Context,
  Meter,
  Observable,
  ObservableCallback,
  TextMapPropagator,
} from '@opentelemetry/api';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Deferrer } from '../deferrer.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import type { ContextOptions } from '../options.ts';
import { metricsOf, queuesOf, type Metric } from './metrics.ts';
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
 * `redline.defer.depth`, `.loaded`, `.oldest.age` (s), `.breaker.open`, `.delayed`, `.deferred`, `.sent`, `.retried`,
 * `.resent`, `.replayed`, `.dead`, `.spilled`, `.rejected`, `.batches`, `.failures`, `.dropped` (by `reason`), `.waiting`
 * (by `reason`), `.lag` (mean since the last observation, s), `.unattributed`, `.withdrawn`, `.dead_letters`,
 * `.journal.size` (By); all but the last four by `sink`. `.job.depth`, `.job.oldest.age` (s), `.job.attempts`,
 * `.job.failures`, `.job.dead` and `.job.last_failure.timestamp` (s) by `sink` and `job`.
 *
 * @example
 * ```ts
 * const stop = observeDefer(deferrer, metrics.getMeter('shop'));
 * ```
 */
export function observeDefer(deferrer: Deferrer, meter: Meter): () => void {
  const lagOf = meanLag();
  const lag: Metric = {
    name: 'lag',
    type: 'gauge',
    help: 'Mean time from the call to the acknowledgement of the sink.',
    unit: 's',
    samples: () => queuesOf(deferrer).map((queue) => [lagOf(queue), { sink: queue.name }]),
  };
  const ends = [...metricsOf(deferrer), lag].map((metric) => observe(meter, metric));
  return () => {
    for (const end of ends) end();
  };
}

function observe(meter: Meter, { name, type, help, unit, samples }: Metric): () => void {
  const create = type === 'counter' ? 'createObservableCounter' : 'createObservableGauge';
  const instrument: Observable = meter[create](`redline.defer.${name}`, {
    description: help,
    ...(unit !== undefined && { unit }),
  });
  const callback: ObservableCallback = (result) => {
    for (const [value, labels] of samples()) result.observe(value, labels);
  };
  instrument.addCallback(callback);
  return () => instrument.removeCallback(callback);
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
