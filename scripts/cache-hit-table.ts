import { type BenchResult, isMeasured } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

const stores = { redis: '`redisStore`', memory: '`tieredStore`, in memory' } as const;
const tags = ['0 tags', '1 tag', '3 tags'];

/** The cost of a hit by store and number of tags: for packages/response-cache/README.md. */
export function cacheHitTable(result: BenchResult): string {
  const rows = Object.entries(stores).map(([store, title]) => [
    title,
    ...tags.map((count) => {
      const variant = result.variants.find(({ name }) => name === `${store}, ${count}`);
      if (variant === undefined || !isMeasured(variant)) return '–';
      if (variant.cpuVerdict === 'base') return `${variant.cpuMicrosPerRequest.toFixed(1)} µs = 1`;
      return ratioText(shareOf(variant.cpuRatio));
    }),
  ]);
  return [table(['CPU of a hit', ...tags], rows), describeRun(result)].join('\n\n');
}

function describeRun({ machine, load, precision, startedAt }: BenchResult): string {
  const { restarts, blocks, cpuBand } = precision;
  return [
    `One route of Nest on the engine, per request; less is better. ${load.connections} connections. Measured ${startedAt.slice(0, 10)} on`,
    `${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise ± ${(cpuBand * 100).toFixed(0)} %. A difference within the noise does not count.`,
    '`npm run bench -- cache-hit`; raw data: [cache-hit.json](../../benchmarks/results/cache-hit.json).',
  ].join('\n');
}
