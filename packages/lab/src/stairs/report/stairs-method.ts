import type { StairsResult } from '../result.ts';
import { fixed, plural } from '../../report/format.ts';
import type { Document } from '../../document/document.ts';

/** Explains how the waterfall was measured, and its limits. */
export function stairsMethod(result: StairsResult): Pick<Document, 'method' | 'limits'> {
  return { method: done(result), limits: limits(result) };
}

function done({ precision, load, stages, whole }: StairsResult): string[] {
  const { guardMs, countedMs, restarts, rounds, resamples, seed, bandMicros, endingMicros, clock } =
    precision;
  const memory =
    whole.memory === undefined
      ? []
      : [
          'Memory was counted in slices of its own, after all that was timed: the growth of the heap and what collections freed of it, and the growth of memory outside of the heap, read before and after each request. The collector’s CPU is its pauses, as a share of the time in which the loop was active. Bytes are the median of the rounds, the collector’s CPU their mean; a stage’s are the difference of two cuts.',
        ];
  return [
    'The sources of the app were rewritten as they were loaded. A few requests were traced: the functions that every request enters, in one order, are the stages; functions of the app count when they are entered exactly once.',
    `Then, under one continuous load on the core of the server, in turns with it (${load.generator}, ${plural(load.connections, 'connection')}), the server itself applied each of ${plural(stages.length - 1, 'cut')} for one slice, in an order shuffled for each of ${plural(rounds, 'round')}${restarts > 1 ? ` in ${plural(restarts, 'restart')}` : ''}. A request that reaches the cut gets an empty response and goes no further.`,
    `The first ${fixed(guardMs)} ms of a slice do not count, because requests in flight then belong to the previous slice. Of the other ${fixed(countedMs)} ms the server reads the CPU time of ${clock === 'thread' ? 'its main thread' : 'its process'} and the requests.`,
    `The cost at a cut is the mean of the lowest quarter of its slices, because a disturbance only adds to a slice; a stage's cost is the difference of two cuts. Its 95 % interval is a bootstrap over ${restarts > 1 ? 'restarts and rounds' : 'rounds'}, ${fixed(resamples)} times (seed ${seed}), widened by half a per cent of the request: a cut changes how its function is compiled and laid out, an error that more slices cannot remove.`,
    `An ended request returns from the functions it has entered, which takes ${fixed(endingMicros.value, 2)} µs on average (${fixed(endingMicros.low, 2)} to ${fixed(endingMicros.high, 2)}, by the stage). It is timed at every cut and subtracted.`,
    `The band of no cost is ± ${fixed(bandMicros, 2)} µs: one per cent of the request, or as far as the whole request against itself reached (${fixed(whole.control.low, 2)} to ${fixed(whole.control.high, 2)} µs). The error rate of the word changed is kept at 5 % over all stages together (Holm).`,
    ...memory,
  ];
}

function limits({ precision, load }: StairsResult): string[] {
  return [
    'A stage is charged for everything up to the entry of the next, including what its callers do in between and work it defers, such as a log line written after the response.',
    'Behind a cut the app does less: caches stay warmer, counters stop, the garbage collector has different work. The differences hold for this app under this load.',
    ...(precision.restarts === 1
      ? [
          'One start of the app was measured. Another start may be compiled differently: --restarts shows how much that matters.',
        ]
      : []),
    'Requests per second are derived from the CPU of the main thread: what one core could serve if it did nothing else.',
    `One route with one kind of request: ${load.request}. Work between requests is charged to all of them.`,
    'Functions in dependencies are stages only where a framework calls them; work on other threads is not measured.',
  ];
}
