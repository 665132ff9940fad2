import type { BenchResult } from '../result.ts';
import { fixed, milliseconds, percent, plural } from '../../report/format.ts';
import type { Document } from '../../document/document.ts';
import { measuredRows } from './rows.ts';
import { marginOf, warmUpText } from './words.ts';

/** Explains how the figures were obtained and what they leave open, for a critical reader. */
export function benchMethod(result: BenchResult): Pick<Document, 'method' | 'limits'> {
  return { method: done(result), limits: limits(result) };
}

function done(result: BenchResult): string[] {
  const { load, precision, slices } = result;
  const { restarts, blocks, sliceMs, cpuBand, rpsBand } = precision;
  return [
    `Every variant ran as its own server process, started ${plural(restarts, 'time')}. Within a restart the variants took turns through ${plural(blocks, 'block')}, in an order shuffled for each block, so that drift of the machine affects all of them alike. The base ran twice, under two names: the second is the A/A control, and the others are compared with both.`,
    `${warmUpText(result)} of warm-up were discarded, then every turn was one slice of ${milliseconds(sliceMs)}. ${load.generator} kept ${plural(load.connections, 'connection')} busy over ${plural(load.threads, 'thread')}: a closed loop, where the next request waits for the response. Requests and CPU were counted over the same slice.`,
    ...(slices.some(({ turns }) => turns !== undefined)
      ? [
          'CPU per request was measured separately, in slices of 40 ms in which server and load took turns on one core. Of the slices of a restart, the lower half counts for the main thread and the lowest quarter for all others, where the compiler works: a disturbance only adds to a slice. The cost of waking a sleeping load is not included.',
        ]
      : []),
    'CPU is user plus system time of all threads of the server, divided by the requests it completed; main thread is the part spent on the thread that runs JavaScript. RSS is the resident set at the end of a restart’s load, median over restarts.',
    `Latency comes from an open loop of ${fixed(load.openLoopRps)} requests per second, the same for every variant, and is timed from the moment a request was due, so that a server that stalls cannot hide its queue.`,
    `A ratio compares slices that ran side by side; the estimate is the median, over all pairs of restarts, of their means. ${intervalText(precision)} Absolute figures are the base’s own, times that ratio.`,
    `An estimate beyond ± ${percent(cpuBand)} in CPU or ± ${percent(rpsBand)} in requests is changed if its interval excludes the base: that is the margin of ${percent(marginOf(result))}, or half the width of the A/A control’s interval if that is larger. One that contains 1 and lies wholly within the margin is same, however noisy the run; any other is unresolved. The restarts that would settle it do so in nine of ten runs, if the spread stays as it is. If the interval of the control does not contain 1, every verdict is withheld.`,
  ];
}

function intervalText({ restarts, resamples, seed }: BenchResult['precision']): string {
  if (restarts === 1)
    return `Its 95 % interval is a bootstrap of the blocks of the one restart, ${fixed(resamples)} times (seed ${seed}); it does not cover what another start would have shown.`;
  if (restarts < 6) return `Its 95 % interval is Student’s, over the restarts.`;
  return `Its 95 % interval is a bootstrap: restarts are drawn with replacement, ${fixed(resamples)} times (seed ${seed}), and its ends are adjusted for the number of restarts.`;
}

function limits(result: BenchResult): string[] {
  const comparisons = Math.max(1, measuredRows(result).length - 1);
  const sentences = [
    'Absolute figures hold for this machine at this time. Ratios transfer better, but another processor, kernel or Node.js version can still reorder the rows.',
    'Server and load generator share one machine: no network was measured.',
    `One scenario at one concurrency: ${result.load.requests.join(', ')} over ${plural(result.load.connections, 'connection')}. Other requests may rank differently.`,
    `Each interval has up to a 5 % chance of a wrong call, not adjusted for the number of comparisons (${comparisons} here).`,
    'Same means within the margin, not equal. Unresolved means too little data, not no difference.',
    'Latency at one rate says nothing about latency near saturation. It and RSS carry no verdict.',
  ];
  if (measuredRows(result).some((row) => row.rpsIsLowerBound)) {
    sentences.push(
      '≥ marks a server that did not fill its core: its requests per second are a lower bound, its CPU per request is not affected.',
    );
  }
  return sentences;
}
