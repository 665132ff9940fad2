import { type BenchResult, type Interval, isMeasured, type MeasuredVariant } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

/** Aim: max CPU of a compressed hit, relative to the plain hit. */
const aimOfPlain = 1.1;
const places: Readonly<Record<string, string>> = {
  engine: "`at: 'engine'`",
  hook: "`at: 'hook'`",
};

/**
 * Compressed hits compared with plain ones, and with nginx serving files compressed in advance: for
 * packages/response-cache/README.md.
 */
export function compressedHitsTable(result: BenchResult): string {
  const nginx = find(result, 'nginx/nginx');
  const rows = Object.entries(places).flatMap(([place, title]) => {
    const plain = find(result, `${place}-plain/${place}`);
    const br = find(result, `${place}-br/${place}`);
    const beside = find(result, `${place}-br/nginx`);
    return [
      [`${title}, as it is`, bytesText(plain), micros(plain), '', ''],
      [
        `${title}, br`,
        bytesText(br),
        micros(br),
        aimed(shareOf(br?.cpuRatio), aimOfPlain),
        aimed(weighed(beside, nginx), 1),
      ],
    ];
  });
  if (nginx !== undefined)
    rows.push(['nginx, `gzip_static`', bytesText(nginx), micros(nginx), '', '1']);
  const head = ['', 'bytes', 'CPU', 'of that of the plain hit', 'bytes × CPU beside nginx'];
  return [table(head, rows), describeRun(result)].join('\n\n');
}

/** Returns the share of nginx's CPU, multiplied by the share of its bytes. */
function weighed(
  variant: MeasuredVariant | undefined,
  nginx: MeasuredVariant | undefined,
): Interval | undefined {
  const [bytes, others] = [bytesOf(variant), bytesOf(nginx)];
  const share = shareOf(variant?.cpuRatio);
  if (share === undefined || bytes === undefined || others === undefined) return undefined;
  const of = (value: number): number => (value * bytes) / others;
  return { value: of(share.value), low: of(share.low), high: of(share.high) };
}

function aimed(share: Interval | undefined, aim: number): string {
  if (share === undefined) return '–';
  const isMet = aim === 1 ? share.value < aim : share.value <= aim;
  return `${ratioText(share)}; aim ${aim === 1 ? 'below 1' : aim.toFixed(2)}, ${isMet ? 'met' : 'missed'}`;
}

function find(result: BenchResult, name: string): MeasuredVariant | undefined {
  const variant = result.variants.find((each) => each.name === name);
  return variant && isMeasured(variant) ? variant : undefined;
}

/* The scenario writes the size into the note, and checks it against each server's response. */
function bytesOf(variant: MeasuredVariant | undefined): number | undefined {
  const text = /^(\d+) bytes$/.exec(variant?.note ?? '')?.[1];
  return text === undefined ? undefined : Number(text);
}

function bytesText(variant: MeasuredVariant | undefined): string {
  return bytesOf(variant)?.toLocaleString('en-US') ?? '–';
}

function micros(variant: MeasuredVariant | undefined): string {
  return variant === undefined ? '–' : `${variant.cpuMicrosPerRequest.toFixed(1)} µs`;
}

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult): string {
  const { restarts, blocks } = groups[0]!.precision;
  const bands = groups.map(({ precision }) => precision.cpuBand);
  return [
    `One response of JSON to \`Accept-Encoding: gzip, deflate, br, zstd\`, without a log, over ${load.connections} connections; less is better.`,
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise ± ${(Math.max(...bands) * 100).toFixed(0)} % in the worst group.`,
    '`npm run bench -- compressed-hits`; raw data: [compressed-hits.json](../../benchmarks/results/compressed-hits.json).',
  ].join('\n');
}
