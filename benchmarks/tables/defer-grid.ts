// The charts and tables of examples/deferred-work/README.md, with requests per minute and latency like the article.
import type { GridResult, GridVariant } from '../defer-grid/grid-result.ts';
import {
  against,
  counts,
  isThere,
  latencyMs,
  minRestarts,
  platforms,
  rpm,
  sinks,
  ways,
} from './defer-rows.ts';
import { picture, rawData, span, table } from './format.ts';

/** Number of cells in the whole grid. */
const gridCells = Object.keys(sinks).length * counts.length;

/** @param source Name of the scenario and of its result file. */
export function deferGrid(result: GridResult, source: string): string {
  const parts = measuredSinks(result).flatMap((sink) => [
    picture(`../../docs/charts/defer-${sink}`, `${sinks[sink]}: requests per minute and latency`),
    `<details><summary>${sinks[sink]!.replace(/^./, (first) => first.toUpperCase())}, as figures</summary>`,
    gridTable(result, sink),
    '</details>',
  ]);
  return [...parts, describeGrid(result, source)].join('\n\n');
}

export function measuredSinks(result: GridResult): string[] {
  return Object.keys(sinks).filter((sink) => measuredCounts(result, sink).length > 0);
}

function measuredCounts(result: GridResult, sink: string): number[] {
  return counts.filter((count) => isThere(result, `express-disk/${sink}/c${count}`));
}

function gridTable(result: GridResult, sink: string): string {
  const measured = measuredCounts(result, sink);
  const head = ['', ...measured.flatMap((count) => [`c=${count}, RPM`, 'ms', '× interceptor'])];
  const rows = Object.entries(platforms).flatMap(([platform, name]) =>
    ways.map((way) => [
      `${name}, ${way}`,
      ...measured.flatMap((count) => {
        const variant = find(result, `${platform}-${way}/${sink}/c${count}`);
        if (variant === undefined) return ['–', '–', '–'];
        const other = `${platform}-interceptor/${sink}/c${count}`;
        const { text } = against(result.slices, { variant: variant.name, other });
        return [rpm(variant), latencyMs(variant, count), text];
      }),
    ]),
  );
  return table(head, rows);
}

function describeGrid(
  { machine, load, startedAt, groups = [] }: GridResult,
  source: string,
): string {
  const precisions = groups
    .filter(({ name }) => /-c\d+$/.test(name))
    .map(({ precision }) => precision);
  const restarts = precisions.map((precision) => precision.restarts);
  const blocks = span(precisions.map((precision) => precision.blocks));
  const sliceMs = span(precisions.map((precision) => precision.sliceMs));
  const noises = precisions.filter((each) => each.restarts >= minRestarts);
  return [
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel},`,
    `Node ${machine.node.slice(1)}; ${load.generator}, ${machine.pinning}; ${span(restarts)} ${Math.max(...restarts) === 1 ? 'restart' : 'restarts'} × ${blocks} interleaved blocks of ${sliceMs} ms.`,
    ...(noises.length === 0
      ? []
      : [
          `A/A noise up to ± ${(Math.max(...noises.map(({ rpsBand }) => rpsBand)) * 100).toFixed(0)} % of the requests per second in the worst cell.`,
        ]),
    ...(Math.min(...restarts) < minRestarts
      ? [
          'Where every server was started only once or twice, the ratio of each start stands in the table instead of an interval:',
          'so few starts show a size and settle nothing.',
        ]
      : []),
    'Latency is that of the closed loop, connections ÷ requests per second. Redis shares the two cores with the server and the',
    'load, so the work of Redis itself for a job counts here as well; on a machine with more cores the gaps differ.',
    ...(precisions.length < gridCells
      ? [
          `These are ${precisions.length} of the ${gridCells} cells of the grid (${Object.keys(sinks).length} sinks × ${counts.join(', ')} connections).`,
        ]
      : []),
    rawData(source),
  ].join('\n');
}

function find(result: GridResult, name: string): GridVariant | undefined {
  const variant = result.variants.find((each) => each.name === name);
  return variant !== undefined && 'rps' in variant ? variant : undefined;
}
