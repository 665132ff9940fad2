import type { Deferrer } from '../deferrer.ts';
import { lagBuckets } from '../sink-queue/queue-counts.ts';
import { metricsOf, queuesOf, type Metric, type Sample } from './metrics.ts';

/**
 * Returns the metrics in the text format of Prometheus (0.0.4), for the app's own `/metrics`.
 *
 * @example
 * ```ts
 * app.get('/metrics', () => prometheusMetrics(deferrer));
 * ```
 */
export function prometheusMetrics(deferrer: Deferrer): string {
  const text: string[] = [];
  const now = deferrer.stats();
  for (const metric of metricsOf(deferrer, () => now)) {
    const name = nameOf(metric);
    text.push(`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`);
    text.push(...metric.samples().map((sample) => lineOf(name, sample)));
  }
  const lag = 'redline_defer_lag_seconds';
  text.push(`# HELP ${lag} From the call to the acknowledgement of the sink.`);
  text.push(`# TYPE ${lag} histogram`);
  for (const { name: sink, stats } of queuesOf(deferrer)) {
    let count = 0;
    for (const [bucket, jobs] of stats.lag.entries()) {
      count += jobs;
      const le = String(lagBuckets[bucket] ?? '+Inf');
      text.push(lineOf(`${lag}_bucket`, [count, { sink, le }]));
    }
    text.push(lineOf(`${lag}_sum`, [stats.lagSumSeconds, { sink }]));
    text.push(lineOf(`${lag}_count`, [count, { sink }]));
  }
  return `${text.join('\n')}\n`;
}

function nameOf({ name, type, unit }: Metric): string {
  const words = name.replace('.size', '_bytes').replaceAll('.', '_');
  if (type === 'counter') return `redline_defer_${words}_total`;
  return `redline_defer_${words}${unit === 's' ? '_seconds' : ''}`;
}

function lineOf(name: string, [value, labels]: Sample): string {
  const parts = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
  return `${name}${parts.length === 0 ? '' : `{${parts.join(',')}}`} ${value}`;
}

function escape(label: string): string {
  return label.replace(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`));
}
