import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, shareOf } from './ratio-text.ts';

/** A row: its title, the two variants whose difference it shows, and the aim, in µs. */
const rows: readonly { title: string; variant: string; base: string; aim: number }[] = [
  {
    title: 'the line of a stored response, with its hand-over to a file',
    variant: 'with/line',
    base: 'without/line',
    aim: 0.6,
  },
  {
    title: 'a GET whose response is not stored, beside one that is',
    variant: '1/store',
    base: '0/store',
    aim: 0.1,
  },
  {
    title: 'the same beside ten thousand',
    variant: '10000/store',
    base: '0/store',
    aim: 0.1,
  },
];

/** The cost of stored responses in the engine: for docs/design/http.md. */
export function engineCostsTable(result: BenchResult): string {
  const { machine, load, startedAt, groups = [] } = result;
  const { restarts, blocks } = groups[0]!.precision;
  return [
    table(
      ['', 'µs of CPU', 'aim'],
      rows.map(({ title, variant, base, aim }) => [
        title,
        costText(find(result, variant), find(result, base)),
        aim.toFixed(1),
      ]),
    ),
    [
      `Headers of a browser, ${load.connections} connections; the difference of two servers of one run, with its interval.`,
      `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
      `${machine.pinning}; ${ofRun(restarts, blocks)}. \`npm run bench -- engine-costs\`; raw data:`,
      '[engine-costs.json](../../benchmarks/results/engine-costs.json).',
    ].join('\n'),
  ].join('\n\n');
}

/** Returns the additional cost over the base. */
function costText(variant: MeasuredVariant | undefined, base: MeasuredVariant | undefined): string {
  const share = shareOf(variant?.cpuRatio);
  if (share === undefined || base === undefined) return '–';
  const more = (ratio: number): string => ((ratio - 1) * base.cpuMicrosPerRequest).toFixed(2);
  return `${more(share.value)} [${more(share.low)}, ${more(share.high)}]`;
}

function find(result: BenchResult, name: string): MeasuredVariant | undefined {
  const variant = result.variants.find((each) => each.name === name);
  return variant && isMeasured(variant) ? variant : undefined;
}
