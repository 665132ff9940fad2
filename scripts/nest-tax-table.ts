import { type BenchResult, isMeasured } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

const places = { hook: "`at: 'hook'`", engine: "`at: 'engine'`" };

/** The cost that Nest adds to a hit, compared with the Fastify under it: for docs/guide/json-cache.md. */
export function nestTaxTable(result: BenchResult): string {
  const rows = Object.entries(places).map(([at, title]) => {
    const [fastify, nest] = ['fastify', 'nest'].map((framework) =>
      result.variants.filter(isMeasured).find(({ name }) => name === `${framework}/${at}`),
    );
    if (fastify === undefined || nest === undefined) return [title, '–', '–', '–'];
    return [
      title,
      `${fastify.cpuMicrosPerRequest.toFixed(1)} µs`,
      `${nest.cpuMicrosPerRequest.toFixed(1)} µs`,
      ratioText(shareOf(nest.cpuRatio)),
    ];
  });
  const head = ['CPU of a hit', 'Fastify', 'Nest on it', 'Nest, as a share of Fastify'];
  return [table(head, rows), describeRun(result)].join('\n\n');
}

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult): string {
  const { restarts, blocks } = groups[0]!.precision;
  const band = Math.max(...groups.map(({ precision }) => precision.cpuBand));
  return [
    `The same response and headers, without log lines; less is better. ${load.connections} connections. Measured ${startedAt.slice(0, 10)} on`,
    `${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise ± ${(band * 100).toFixed(0)} %. A difference within the noise does not count.`,
    '`npm run bench -- nest-tax`; raw data: [nest-tax.json](../../benchmarks/results/nest-tax.json).',
  ].join('\n');
}
