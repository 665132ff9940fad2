import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { JsonCache } from '../src/cache/json-cache.ts';
import { observeCaches, prometheusMetrics, type CacheMeter } from '../src/cache/metrics.ts';

async function usedCache(name: string): Promise<JsonCache> {
  const cache = new JsonCache({ name, logger: false });
  await cache.answer('a', () => 1);
  await cache.answer('a', () => 1);
  await cache.answer('a', () => 1);
  return cache;
}

describe('The metrics of caches', () => {
  it('are text for Prometheus, with the names of the caches', async () => {
    const text = prometheusMetrics([await usedCache('one'), new JsonCache({ name: 'a "b"\\' })]);
    assert.match(text, /^# HELP redline_cache_hits_total Responses from the store\.$/m);
    assert.match(text, /^# TYPE redline_cache_hits_total counter$/m);
    assert.match(text, /^redline_cache_hits_total\{cache="one"\} 2$/m);
    assert.match(text, /^redline_cache_misses_total\{cache="one"\} 1$/m);
    assert.match(text, /^redline_cache_store_errors_total\{cache="a \\"b\\"\\\\"\} 0$/m);
    assert.match(text, /^redline_cache_store_down\{cache="one"\} 0$/m);
    assert.ok(text.endsWith('\n'));
  });

  it('are in the table of the README, all of them and in its words', () => {
    const text = prometheusMetrics([new JsonCache({ logger: false })]);
    const described = [...text.matchAll(/^# HELP (\S+) (.+)\n# TYPE \S+ (\w+)$/gm)];
    const rows = described.map(([, name, help, type]) => {
      const dotted = name!.replace('redline_cache_', 'redline.cache.').replace(/_total$/, '');
      return `| \`${name}\` | \`${dotted}\` | ${type} | ${help} |`;
    });
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const table = readme.split('\n').filter((line) => line.startsWith('| `redline_cache_'));
    assert.deepEqual(table, rows);
  });

  it('are observed by a meter of OpenTelemetry, until that is stopped', async () => {
    type Callback = Parameters<ReturnType<CacheMeter['createObservableGauge']>['addCallback']>[0];
    const instruments = new Map<string, Set<Callback>>();
    const create = (name: string) => {
      const callbacks = new Set<Callback>();
      instruments.set(name, callbacks);
      return {
        addCallback: (callback: Callback) => void callbacks.add(callback),
        removeCallback: (callback: Callback) => void callbacks.delete(callback),
      };
    };
    const meter = { createObservableCounter: create, createObservableGauge: create };
    const stop = observeCaches(meter, [await usedCache('one')]);
    const seen: unknown[] = [];
    for (const callback of instruments.get('redline.cache.hits')!)
      callback({ observe: (value, attributes) => seen.push([value, attributes]) });
    assert.deepEqual(seen, [[2, { cache: 'one' }]]);
    assert.ok(instruments.has('redline.cache.store_down'));
    stop();
    assert.ok([...instruments.values()].every((callbacks) => callbacks.size === 0));
  });
});

describe('The channels of diagnostics_channel', () => {
  it('say what becomes of each question, and what is dropped', async () => {
    const seen: string[] = [];
    const names = ['hit', 'miss', 'drop'].map((event) => `redline:response-cache:${event}`);
    const listen = (message: unknown, name: string | symbol): void => {
      const { cache, about } = message as { cache: string; about: string };
      if (cache === 'told') seen.push(`${String(name).split(':').at(-1)} ${about}`);
    };
    for (const name of names) subscribe(name, listen);
    const cache = await usedCache('told');
    await cache.delete('a');
    await cache.invalidate(['t', 'u']);
    for (const name of names) unsubscribe(name, listen);
    await cache.delete('a');
    assert.deepEqual(seen, ['miss a', 'hit a', 'hit a', 'drop a', 'drop t, u']);
  });
});
