import type { StairsResult } from '../stairs/result.ts';
import { fixed, plural } from './format.ts';
import { markup, type Markup } from './markup.ts';
import type { Section } from './section.ts';

/** How the waterfall came about and what it leaves open. */
export function stairsMethod(result: StairsResult): Section {
  const items = (sentences: string[]): Markup[] =>
    sentences.map((text) => markup`<li>${text}</li>`);
  return {
    id: 'method',
    heading: 'Method',
    body: markup`<div class="pair"><div><h3>What was done</h3><ul>${items(done(result))}</ul></div><div><h3>What it does not prove</h3><ul>${items(limits(result))}</ul></div></div>`,
    css: '#method .pair{display:grid;grid-template-columns:1fr 1fr;gap:var(--s3) var(--s5);margin-top:var(--s2)}#method li{color:var(--ink2);margin-bottom:var(--s2);max-width:78ch;text-wrap:pretty}@media screen and (max-width:960px){#method .pair{grid-template-columns:minmax(0,1fr)}}',
  };
}

function done({ precision, load, stages, whole }: StairsResult): string[] {
  const { guardMs, countedMs, restarts, rounds, resamples, seed, bandMicros, endingMicros, clock } =
    precision;
  return [
    'The app ran with its sources rewritten as they were loaded. A few requests were traced: what every one of them enters, in one order, are the stages; functions of the app count when they are entered once.',
    `Then, under one continuous load on the core of the server, in turns with it (${load.generator}, ${plural(load.connections, 'connection')}), the server itself held each of ${plural(stages.length - 1, 'cut')} for one slice, in an order shuffled for each of ${plural(rounds, 'round')}${restarts > 1 ? ` in ${plural(restarts, 'restart')}` : ''}. A request that reaches the cut is answered with nothing, and goes no further.`,
    `The first ${fixed(guardMs)} ms of a slice do not count, for what was under way then belongs to the last one. Of the other ${fixed(countedMs)} ms the server reads the CPU time of ${clock === 'thread' ? 'its main thread' : 'its process'} and the requests.`,
    `The cost at a cut is the mean of the lowest quarter of its slices, for what disturbs a slice only adds to it; a stage's cost is the difference of two cuts. Its 95 % interval is a bootstrap over ${restarts > 1 ? 'restarts and rounds' : 'rounds'}, ${fixed(resamples)} times (seed ${seed}), widened by half a per cent of the request: a cut changes how its function is compiled and laid out, which no number of slices takes away.`,
    `An ended request leaves what it has entered, which takes ${fixed(endingMicros.value, 2)} µs on average (${fixed(endingMicros.low, 2)} to ${fixed(endingMicros.high, 2)}, by the stage). It is timed at every cut, and taken off.`,
    `The band of no cost is ± ${fixed(bandMicros, 2)} µs: one per cent of the request, or as far as the whole request against itself reached (${fixed(whole.control.low, 2)} to ${fixed(whole.control.high, 2)} µs). The word changed is held to 5 % over all stages together (Holm).`,
  ];
}

function limits({ precision, load }: StairsResult): string[] {
  return [
    'A stage is charged for everything up to the entry of the next: also for what its callers do in between, and for work it puts off until later, such as a log line written when the answer has left.',
    'Behind a cut the app does less: caches stay warmer, counters stand still, the garbage collector has other work. The differences are those of this app under this load.',
    ...(precision.restarts === 1
      ? [
          'One start of the app was measured. Another may be compiled otherwise: --restarts tells how much that matters.',
        ]
      : []),
    'Requests per second are derived from the CPU of the main thread: what one core would serve that does nothing else.',
    `One route with one kind of request: ${load.request}. Work between requests is charged to all of them.`,
    'Functions in dependencies are stages only where a framework calls them; work on other threads is not seen.',
  ];
}
