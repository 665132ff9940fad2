import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';
import { table } from './markdown-table.ts';

/** The first table of packages/http/README.md, and how it came about. */
export function frameworksTables(result: BenchResult): string {
  return [
    '**Requests per second on the engine**, the same application on `node:http` = 1, with 95 % intervals:',
    rpsTable(result),
    '**CPU per request on the engine**, the same application on `node:http` = 1:',
    cpuTable(result),
    describeRun(result),
  ].join('\n\n');
}

/** The table of the root README. */
export function frameworksSummary(result: BenchResult): string {
  return rpsTable(result);
}

function rpsTable(result: BenchResult): string {
  return grid(result, ({ rpsRatio }) => ratioText(rpsRatio));
}

function cpuTable(result: BenchResult): string {
  return grid(result, ({ cpuRatio }) => ratioText(shareOf(cpuRatio)));
}

/** Frameworks down, Nodes across. */
function grid(result: BenchResult, show: (variant: MeasuredVariant) => string): string {
  const majors = [...new Set(result.variants.map(({ name }) => name.split('/')[1]!))];
  const frameworks = result.variants.filter(
    ({ name }) => name.endsWith(`/${majors[0]}`) && !name.includes('-redline/'),
  );
  const rows = frameworks.map(({ name, note = name }) => [
    note.split(',')[0]!,
    ...majors.map((major) => {
      const engine = `${name.split('/')[0]}-redline/${major}`;
      const variant = result.variants.find((each) => each.name === engine);
      if (variant === undefined) return '–';
      return isMeasured(variant) ? show(variant) : 'skipped';
    }),
  ]);
  return table(['', ...majors.map((major) => `Node ${versionOf(result, major)}`)], rows);
}

function versionOf({ variants }: BenchResult, major: string): string {
  const note = variants.find(({ name }) => name.endsWith(`/${major}`))?.note;
  return /, Node (.*)$/.exec(note ?? '')?.[1] ?? major;
}

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult): string {
  const { restarts, blocks } = groups[0]!.precision;
  const bands = groups.map(({ precision }) => precision.cpuBand).toSorted((a, b) => a - b);
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  return [
    `One route that responds with 593 bytes of JSON, requested with ten headers over ${load.connections} connections. Measured`,
    `${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)} of each pair, A/A noise in CPU ± ${percent(bands[Math.floor(bands.length / 2)]!)} in the`,
    `median pair, ± ${percent(bands.at(-1)!)} in the worst. The handler itself does not get faster: the more it does, the less there is to gain.`,
    'Raw data: [benchmarks/results/frameworks.json](../../benchmarks/results/frameworks.json).',
  ].join('\n');
}
