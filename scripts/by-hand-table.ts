import { type BenchResult, isMeasured } from '@redline/lab';
import { byHandGroups, byHandVariants } from '../benchmarks/contenders/by-hand-variants.ts';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

/** The cost of the cache and the logger, compared with hand-written code: for examples/cached-api/README.md. */
export function byHandTable(result: BenchResult): string {
  const head = ['CPU per request', ...Object.values(byHandGroups).map(({ title }) => title)];
  const rows = Object.entries(byHandVariants).map(([parts, note]) => [
    note,
    ...Object.keys(byHandGroups).map((group) => {
      const variant = result.variants.find(({ name }) => name === `${group}/${parts}`);
      if (variant === undefined || !isMeasured(variant)) return '–';
      if (variant.cpuVerdict === 'base') return `${variant.cpuMicrosPerRequest.toFixed(1)} µs = 1`;
      return ratioText(shareOf(variant.cpuRatio));
    }),
  ]);
  return [table(head, rows), describeRun(result)].join('\n\n');
}

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult): string {
  const { restarts, blocks } = groups[0]!.precision;
  const noise = groups.map(({ precision }) => `± ${(precision.cpuBand * 100).toFixed(0)} %`);
  return [
    `Less is better. One Nest 12 and Fastify 5 under all, hits in Redis, ${load.connections} connections. Measured ${startedAt.slice(0, 10)} on`,
    `${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise in CPU ${noise.join(', ')}. A difference within the noise does not count.`,
    'Raw data: [by-hand.json](../../benchmarks/results/by-hand.json).',
  ].join('\n');
}
