// The table of examples/legacy-http for the scenario `legacy`: runtimes × before and after.
import { type BenchResult, type Interval, isMeasured } from '@redline/lab';
import { table } from './markdown-table.ts';

/** The article's requests per second on Node 6, 8 and 10, and on 10 after all its steps. */
const article: Record<string, { before: number; after?: number }> = {
  '6': { before: 1210 },
  '8': { before: 2308 },
  '10': { before: 2590, after: 9971 },
};

export function legacyTable(result: BenchResult): string {
  const variants = new Map(result.variants.filter(isMeasured).map((each) => [each.name, each]));
  const majors = [...variants.keys()].flatMap(
    (name) => /^original on node (\d+)$/.exec(name)?.[1] ?? [],
  );
  const first = article[majors[0] ?? ''];
  const rows = majors.map((major) => {
    const original = variants.get(`original on node ${major}`)!;
    const twin = variants.get(`twin on node ${major}`);
    const theirs = article[major];
    return [
      major,
      theirs && first ? ratio(theirs.before / first.before) : '–',
      ratioText(original.cpuRatio),
      original.cpuMicrosPerRequest.toFixed(0),
      twin ? twin.cpuMicrosPerRequest.toFixed(0) : '–',
      theirs?.after ? ratio(theirs.after / theirs.before) : '–',
      twin?.step?.over === original.name ? ratioText(twin.step.cpu.ratio) : '–',
    ];
  });
  const head = [
    'Node',
    'original, × the first row: the article, rps',
    'here, CPU',
    'original, CPU µs',
    'twin, CPU µs',
    'twin, × original: the article, rps',
    'here, CPU',
  ];
  const { machine, load, precision, startedAt } = result;
  return `${table(head, rows)}

Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}), ${machine.kernel}; ${load.generator}, ${load.connections} connections, ${machine.pinning}; ${precision.restarts} restarts × ${precision.blocks} interleaved blocks; A/A noise ± ${(precision.cpuBand * 100).toFixed(0)} % CPU.
Raw data: [benchmarks/results/legacy.json](../../benchmarks/results/legacy.json).`;
}

function ratioText({ value, low, high }: Interval): string {
  return low === high ? ratio(value) : `${ratio(value)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

function ratio(value: number): string {
  return `${value.toFixed(2)} ×`;
}
