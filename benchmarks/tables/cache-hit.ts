import type { BenchResult } from '@redline/lab';
import { cpuOfBase, measured, measuredOn, noise, rawData, table } from './format.ts';

const stores = { redis: '`redisStore`', memory: '`tieredStore`, in memory' } as const;
const tags = ['0 tags', '1 tag', '3 tags'];

/** The cost of a hit by store and number of tags: for packages/response-cache/README.md. */
export function cacheHitTable(result: BenchResult): string {
  const rows = Object.entries(stores).map(([store, title]) => [
    title,
    ...tags.map((count) => cpuOfBase(measured(result, `${store}, ${count}`))),
  ]);
  return `${table(['CPU of a hit', ...tags], rows)}

One route of Nest on the engine, per request, ${result.load.connections} connections; less is better. A difference within the noise does not count.
\`npm run bench -- cache-hit\`. ${measuredOn(result)}; ${noise(result)}. ${rawData('cache-hit')}`;
}
