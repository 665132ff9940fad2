import type { BenchResult, Interval, MeasuredVariant } from '@redline/lab';
import {
  measured,
  measuredOn,
  micros,
  noise,
  ratioText,
  rawData,
  shareOf,
  table,
} from './format.ts';

/** Aim: max CPU of a compressed hit, relative to the plain hit. */
const aimOfPlain = 1.1;
const places = { engine: "`at: 'engine'`", hook: "`at: 'hook'`" };

/**
 * Compressed hits compared with plain ones, and with nginx serving files compressed in advance: for
 * packages/response-cache/README.md.
 */
export function compressedHitsTable(result: BenchResult): string {
  const nginx = measured(result, 'nginx/nginx');
  const rows = Object.entries(places).flatMap(([place, title]) => {
    const plain = measured(result, `${place}-plain/${place}`);
    const br = measured(result, `${place}-br/${place}`);
    const toPlain = aimed(shareOf(br?.cpuRatio), aimOfPlain);
    const besideNginx = aimed(weighed(measured(result, `${place}-br/nginx`), nginx), 1);
    return [
      [`${title}, as it is`, bytesText(plain), micros(plain), '', ''],
      [`${title}, br`, bytesText(br), micros(br), toPlain, besideNginx],
    ];
  });
  if (nginx !== undefined)
    rows.push(['nginx, `gzip_static`', bytesText(nginx), micros(nginx), '', '1']);
  const head = ['', 'bytes', 'CPU', 'of that of the plain hit', 'bytes × CPU beside nginx'];
  return `${table(head, rows)}

One response of JSON to \`Accept-Encoding: gzip, deflate, br, zstd\`, without a log, over ${result.load.connections} connections; less is better.
\`npm run bench -- compressed-hits\`. ${measuredOn(result)}; ${noise(result)}. ${rawData('compressed-hits')}`;
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

/* The scenario writes the size into the note, and checks it against each server's response. */
function bytesOf(variant: MeasuredVariant | undefined): number | undefined {
  const text = /^(\d+) bytes$/.exec(variant?.note ?? '')?.[1];
  return text === undefined ? undefined : Number(text);
}

function bytesText(variant: MeasuredVariant | undefined): string {
  return bytesOf(variant)?.toLocaleString('en-US') ?? '–';
}
