// The table of examples/legacy-http for the scenario `legacy`: runtimes × before and after.
import { type BenchResult, isMeasured } from '@redline/lab';
import { measuredOn, noise, ratioText, rawData, table } from './format.ts';

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
      theirs && first ? times(theirs.before / first.before) : '–',
      ratioText(original.cpuRatio),
      original.cpuMicrosPerRequest.toFixed(0),
      twin ? twin.cpuMicrosPerRequest.toFixed(0) : '–',
      theirs?.after ? times(theirs.after / theirs.before) : '–',
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
  return `${table(head, rows)}

${result.load.connections} connections. ${measuredOn(result)}; ${noise(result)}. ${rawData('legacy')}`;
}

function times(value: number): string {
  return `${value.toFixed(2)} ×`;
}
