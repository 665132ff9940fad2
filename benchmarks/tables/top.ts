// The guide's table for `npm run bench -- top`.
import type { ReaderFigures, TopProof } from '../proofs/top.ts';
import { table } from './format.ts';

export function topTable(proof: TopProof): string {
  const { bytes, lines, paths, readers, cores, cpuModel, node, startedAt } = proof;
  const rows = readers.map((reader) => [
    reader.name.startsWith('redline')
      ? '`redline top`'
      : reader.name.replace('goaccess', 'GoAccess'),
    span(reader.seconds, 1),
    span(reader.cpuSeconds, 1),
    span(reader.rssMiB, 0),
  ]);
  const million = (count: number): string => `${(count / 1e6).toFixed(1)} million`;
  return `${table(['', 'seconds', 'seconds of CPU', 'peak MiB'], rows)}

${Math.round(bytes / 1e6)} MB of nginx's combined format with \`$request_time\`: ${million(lines)} requests for ${million(paths)} paths. Both read it ${readers[0]!.seconds.length} times, in turns; median and range.${crowded(readers)} ${startedAt.slice(0, 10)}, ${cores} cores (${cpuModel}), Node ${node.slice(1)}.
\`npm run bench -- top\`; raw data: [top.json](../../benchmarks/results/top.json).`;
}

/** Both readers use one thread: time beyond their CPU was spent waiting for a core. */
function crowded(readers: readonly ReaderFigures[]): string {
  const waited = readers.some(({ seconds, cpuSeconds }) =>
    seconds.some((each, turn) => each > 1.3 * cpuSeconds[turn]!),
  );
  return waited ? ' Other work shared the cores, so compare the CPU.' : '';
}

function span(figures: ReaderFigures['seconds'], decimals: number): string {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
  const [median, low, high] = [middle, sorted[0]!, sorted.at(-1)!].map((each) =>
    each.toFixed(decimals),
  );
  return low === high ? median! : `${median} [${low}, ${high}]`;
}
