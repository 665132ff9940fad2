import type { BenchResult } from '../result.ts';
import { fixed, milliseconds, percent, plural } from './format.ts';
import { markup } from './markup.ts';
import { measuredRows } from './rows.ts';
import type { Section } from './section.ts';

/** How the figures came about and what they leave open, for a reader who means to doubt them. */
export function methodSection(result: BenchResult): Section {
  const items = (sentences: string[]): ReturnType<typeof markup>[] =>
    sentences.map((text) => markup`<li>${text}</li>`);
  return {
    id: 'method',
    heading: 'Method',
    body: markup`<div class="pair"><div><h3>What was done</h3><ul>${items(done(result))}</ul></div><div><h3>What it does not prove</h3><ul>${items(limits(result))}</ul></div></div>`,
    css: '#method .pair{display:grid;grid-template-columns:1fr 1fr;gap:var(--s3) var(--s5);margin-top:var(--s2)}#method li{color:var(--ink2);margin-bottom:var(--s2);max-width:78ch;text-wrap:pretty}@media screen and (max-width:960px){#method .pair{grid-template-columns:minmax(0,1fr)}}',
  };
}

function done({ load, precision, slices }: BenchResult): string[] {
  const { restarts, blocks, sliceMs, warmupMs, resamples, seed, cpuBand, rpsBand } = precision;
  return [
    `Every variant ran as a server process of its own, started afresh ${plural(restarts, 'time')}. Within a restart the variants took turns through ${plural(blocks, 'block')}, in an order shuffled for each block, so that drift of the machine falls on all of them alike. The base ran twice, under two names: the second is the A/A control, and the others are compared with both.`,
    `${milliseconds(warmupMs)} of warm-up were thrown away, then every turn was one slice of ${milliseconds(sliceMs)}. ${load.generator} kept ${plural(load.connections, 'connection')} busy over ${plural(load.threads, 'thread')}: a closed loop, where the next request waits for the answer. Requests and CPU were counted over the same slice.`,
    ...(slices.some(({ turns }) => turns !== undefined)
      ? [
          'CPU per request was read apart, in slices of 40 ms in which server and load took turns on one core; of a restart’s the lowest quarter counts, for what disturbs a slice only adds to it. What waking a sleeping load costs is not in it.',
        ]
      : []),
    'CPU is user plus system time of all threads of the server, divided by the requests it completed; main thread is the part spent where JavaScript runs. RSS is the resident set at the end of a restart’s load, median over restarts.',
    `Latency comes from an open loop of ${fixed(load.openLoopRps)} requests per second, the same for every variant, and is timed from the moment a request was due, so that a server which stalls cannot hide its queue.`,
    `A ratio compares slices that ran side by side; of the restarts the median of the means of all pairs counts. Its 95 % interval is a two-level bootstrap: restarts are drawn with replacement${restarts < 6 ? ', then the blocks within each' : ''}, ${fixed(resamples)} times (seed ${seed}); its ends are set for the number of restarts. Absolute figures are the base’s own, times that ratio.`,
    `The band of no difference is ± ${percent(cpuBand)} in CPU and ± ${percent(rpsBand)} in requests: 2 %, or half the width of the A/A control’s interval if that is more. An interval wholly outside it is changed, wholly inside is same, across an edge is unresolved; the blocks that would settle it assume that the spread stays as it is. The control itself is same when its interval holds 1.`,
  ];
}

function limits(result: BenchResult): string[] {
  const comparisons = Math.max(1, measuredRows(result).length - 1);
  const sentences = [
    'Absolute figures belong to this machine and this hour. Ratios travel further, but another processor, kernel or Node.js can still reorder the rows.',
    'Server and load generator share one machine: no network was measured.',
    `One scenario at one concurrency: ${result.load.requests.join(', ')} over ${plural(result.load.connections, 'connection')}. Other requests may rank otherwise.`,
    `Each interval has up to a 5 % chance of a wrong call, not adjusted for the number of comparisons (${comparisons} here).`,
    'Same means within the band, not equal. Unresolved means too little data, not no difference.',
    'Latency at one rate says nothing about latency near saturation. It and RSS carry no verdict.',
  ];
  if (measuredRows(result).some((row) => row.rpsIsLowerBound)) {
    sentences.push(
      '≥ marks a server that did not fill its core: its requests per second are a lower bound, its CPU per request is not affected.',
    );
  }
  return sentences;
}
