// The ladder of examples/cached-api, beside the article's.
import {
  type BenchResult,
  isMeasured,
  judge,
  type MeasuredVariant,
  type PrecisionFacts,
} from '@redline/lab';
import { measuredOn, percent, ratioText, table } from './format.ts';

/** The article's requests per second, by rung. */
export interface ArticleLadder {
  readonly requestsPerSecond: Readonly<Record<string, number>>;
}

/** The circumstances of `npm start`, below the chart of the root README. */
export function ladderRun(result: BenchResult): string {
  const { cpuBand, rpsBand } = result.precision;
  return `${result.load.connections} connections. ${measuredOn(result)}, A/A noise ± ${percent(cpuBand)} CPU, ± ${percent(rpsBand)} rps.
Raw data: [benchmarks/results/cached-api.json](benchmarks/results/cached-api.json).`;
}

export function ladderTable(result: BenchResult, { requestsPerSecond }: ArticleLadder): string {
  const base = requestsPerSecond[result.baseline]!;
  const rows = result.variants.filter(isMeasured).map((rung) => {
    const theirs = requestsPerSecond[rung.name];
    return [
      `\`${rung.name}\``,
      theirs === undefined ? '–' : `${(theirs / base).toFixed(2)} ×`,
      ratioText(rung.rpsRatio),
      rung.cpuMicrosPerRequest.toFixed(1),
      ratioText(rung.cpuRatio),
      stepText(rung, result.precision),
    ];
  });
  const head = [
    'rung',
    'the article, rps',
    'here, rps',
    'CPU µs per request',
    'here, CPU',
    'CPU against the rung below',
  ];
  return table(head, rows);
}

function stepText({ step }: MeasuredVariant, precision: PrecisionFacts): string {
  if (step === undefined) return '–';
  // Judged again by the current rule: a record may be older.
  const verdict = judge(step.cpu.ratio, { margin: precision.margin, band: precision.cpuBand });
  return `${ratioText(step.cpu.ratio)}, ${verdict}`;
}
