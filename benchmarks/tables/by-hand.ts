import type { BenchResult } from '@redline/lab';
import { byHandGroups, byHandVariants } from '../contenders/by-hand-variants.ts';
import { cpuOfBase, measured, measuredOn, noise, rawData, table } from './format.ts';

/** The cost of the cache and the logger, compared with hand-written code: for examples/cached-api/README.md. */
export function byHandTable(result: BenchResult): string {
  const head = ['CPU per request', ...Object.values(byHandGroups).map(({ title }) => title)];
  const rows = Object.entries(byHandVariants).map(([parts, note]) => [
    note,
    ...Object.keys(byHandGroups).map((group) => cpuOfBase(measured(result, `${group}/${parts}`))),
  ]);
  return `${table(head, rows)}

Less is better. One Nest 12 and Fastify 5 under all, hits in Redis, ${result.load.connections} connections. A difference within the noise does not count.
${measuredOn(result)}; ${noise(result)}. ${rawData('by-hand')}`;
}
