import { type BenchResult, ratioBetween } from '@redline/lab';
import { measured, measuredOn, micros, ratioText, rawData, shareOf, table } from './format.ts';

const loads = {
  'c64-headers': 'connections kept alive',
  connections: 'a connection for each request',
};
const policies = { rr: '`SCHED_RR`', none: '`SCHED_NONE`' };

/** Two workers on the engine against two on Node, by load and scheduling policy: for docs/guide/deploy.md. */
export function clusterTable(result: BenchResult): string {
  const rows = Object.entries(loads).flatMap(([load, title]) =>
    Object.entries(policies).map(([policy, name]) => {
      const pair = { variant: `redline-${policy}/${load}`, other: `node-${policy}/${load}` };
      const ratio = (metric: 'cpu' | 'rps') => ratioBetween(result.slices, { ...pair, metric });
      return [
        `${title}, ${name}`,
        ratioText(ratio('rps')),
        ratioText(shareOf(ratio('cpu'))),
        `${micros(measured(result, pair.other))} → ${micros(measured(result, pair.variant))}`,
      ];
    }),
  );
  return `${table(['two workers, 64 connections', 'requests/s', 'CPU', 'per request'], rows)}

The engine’s share of Node’s. The load shares the cores, and the primary’s CPU counts; on localhost most of a new connection is the kernel’s.
\`npm run bench -- cluster\`. ${measuredOn(result)}. ${rawData('cluster')}`;
}
