import type { JsonCache } from './json-cache.ts';
import type { JsonCacheStats } from '../stats.ts';

const help: Readonly<Record<keyof JsonCacheStats, string>> = {
  hits: 'Responses from the store.',
  stale: 'Responses from the store past their ttl.',
  misses: 'Responses made by a producer, because the store had none.',
  bypasses: 'Responses made by a producer, because the store was down.',
  shared: 'Responses made by the producer of another caller.',
  invalid: 'Stored values that were not JSON.',
  invalidated: 'Responses found invalidated.',
  unshared: 'Responses that a producer kept for its own caller.',
  stores: 'Values written to the store.',
  storeErrors: 'Values the store refused.',
  engineKept: 'Responses that the HTTP engine keeps since.',
};

const counters = Object.entries(help).map(([field, description]) => ({
  field: field as keyof JsonCacheStats,
  // Prometheus names have underscores.
  snake: field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  description,
}));
const lossesHelp =
  'Times the part in this process was emptied, because the connection for invalidations was lost.';
const downHelp = '1 during an outage of the store.';

/** Returns the counters of caches in the text format of Prometheus, labelled by the `name` of each. */
export function prometheusMetrics(caches: Iterable<JsonCache>): string {
  const all = [...caches];
  const lines = (
    name: string,
    type: string,
    text: string,
    of: (cache: JsonCache) => number,
  ): string =>
    [
      `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`,
      ...all.map((cache) => `${name}{cache=${labelValue(cache.name)}} ${of(cache)}\n`),
    ].join('');
  return [
    ...counters.map(({ field, snake, description }) =>
      lines(`redline_cache_${snake}_total`, 'counter', description, ({ stats }) => stats[field]),
    ),
    lines(
      'redline_cache_memory_losses_total',
      'counter',
      lossesHelp,
      (cache) => cache.memoryLosses,
    ),
    lines('redline_cache_store_down', 'gauge', downHelp, ({ isStoreDown }) => Number(isStoreDown)),
  ].join('');
}

interface Observable {
  addCallback(callback: (result: ObservableResult) => void): void;
  removeCallback(callback: (result: ObservableResult) => void): void;
}

interface ObservableResult {
  observe(value: number, attributes: { cache: string }): void;
}

/** The part of an OpenTelemetry meter that is used. */
export interface CacheMeter {
  createObservableCounter(name: string, options: { description: string }): Observable;
  createObservableGauge(name: string, options: { description: string }): Observable;
}

/**
 * Makes `meter` observe the counters of caches, labelled by the `name` of each, until the returned function is called.
 */
export function observeCaches(meter: CacheMeter, caches: Iterable<JsonCache>): () => void {
  const all = [...caches];
  const observe = (instrument: Observable, of: (cache: JsonCache) => number): (() => void) => {
    const callback = (result: ObservableResult): void => {
      for (const cache of all) result.observe(of(cache), { cache: cache.name });
    };
    instrument.addCallback(callback);
    return () => instrument.removeCallback(callback);
  };
  const stops = counters.map(({ field, snake, description }) => {
    const counter = meter.createObservableCounter(`redline.cache.${snake}`, { description });
    return observe(counter, ({ stats }) => stats[field]);
  });
  const losses = meter.createObservableCounter('redline.cache.memory_losses', {
    description: lossesHelp,
  });
  stops.push(observe(losses, (cache) => cache.memoryLosses));
  const down = meter.createObservableGauge('redline.cache.store_down', { description: downHelp });
  stops.push(observe(down, ({ isStoreDown }) => Number(isStoreDown)));
  return () => {
    for (const stop of stops) stop();
  };
}

function labelValue(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
