import { callsSections } from '../calls-out/report/calls-section.ts';
import { summaryText } from '../calls-out/report/call-words.ts';
import { percent, seconds } from '../report/format.ts';
import { threadsText } from '../profile/profiled-thread.ts';
import { commandHeader, factList, type Finding } from '../report/command-header.ts';
import { markup } from '../report/markup.ts';
import { methodList } from '../report/method-list.ts';
import { renderPage } from '../report/page.ts';
import type { Section } from '../report/section.ts';
import { graphSection } from './graph-section.ts';
import { hotSection } from './hot-section.ts';
import type { FlameResult } from './result.ts';
import { factsOf, hottest, regExpText, unoptimised } from './words.ts';

/** Renders the report of `redline flame` as one self-contained file. */
export function renderFlameHtml(result: FlameResult): string {
  return renderPage({
    title: `${result.title}, flamegraph`,
    header: commandHeader(result, findings(result), []),
    sections: [
      graphSection(result),
      facts(result),
      hotSection(result),
      ...callsSections(result.calls),
      method(result),
    ],
  });
}

/** Placed below the graph, which is the reason to open the page. */
function facts(result: FlameResult): Section {
  return { id: 'facts', heading: 'Measured on', body: factList(factsOf(result)) };
}

function findings(result: FlameResult): Finding[] {
  const { samples, owners } = result;
  const [top] = hottest({ ...result, functions: ownCode(result) }, 1);
  const slow = unoptimised(result);
  const own = owners.app / samples;
  const regExp = regExpText(result);
  return [
    {
      word: 'app code',
      text: markup`${percent(own)} of the profiled thread’s time is the app’s own code, ${percent(owners.deps / samples)} its packages, ${percent(owners.core / samples)} Node’s own, ${percent(owners.v8 / samples)} V8’s builtins, compiler and garbage collector.`,
    },
    ...(top === undefined
      ? []
      : [
          {
            word: 'hottest',
            text: markup`<b>${top.name}</b> (${top.place}): ${percent(top.self / samples)} of the time itself, ${percent(top.total / samples)} with what it calls.`,
          },
        ]),
    ...(result.calls === undefined ? [] : [{ word: 'waits', text: summaryText(result.calls) }]),
    ...(regExp === undefined ? [] : [{ word: 'expression', text: regExp }]),
    ...(slow.length === 0
      ? [
          {
            word: 'optimised',
            text: 'Every function that takes 1 % of the time itself runs mostly in optimised code.',
          },
        ]
      : slow.slice(0, 5).map((each) => ({
          word: 'not optimised',
          text: markup`<b>${each.name}</b> (${each.place}): ${percent(each.self / samples)} of the time itself, most of it in Ignition or Sparkplug. <code>redline deopts</code> shows why.`,
        }))),
  ];
}

/** Includes packages, because they can be replaced by others. */
function ownCode({ functions }: FlameResult): FlameResult['functions'] {
  return functions.filter(({ owner }) => owner === 'app' || owner === 'deps');
}

function method({ sampler, load, profiled, tiersAt, regExpSeconds }: FlameResult): Section {
  const source = {
    inspector:
      'V8’s sampling profiler ran through the inspector, after the warm-up; V8’s own log of the code it generates and discards (--log-code) gives the tier of each function. A function that was inlined has the tier of the code it was inlined into.',
    perf: 'Linux perf sampled the process from outside, with native frames and the kernel; node wrote a map of the code it generated (--perf-basic-prof), in which V8’s marks give the tiers. An inlined function is part of its caller.',
    file: 'The profile was read from a file. It has no tiers: V8 writes them to a separate log.',
  }[sampler];
  const sentences = [
    source,
    ...(tiersAt === 'sample' && sampler === 'inspector'
      ? [
          'The code V8 generated and discarded while the profile was taken is known from its jitdump (--perf-prof) and its trace of deopts (--log-deopt): a frame has the tier it was in when it was sampled. The time of a deopt is known to a few hundredths of a second.',
        ]
      : []),
    ...(tiersAt === 'start'
      ? [
          'While the profile was taken, V8 logged nothing: tiers are those at its start, after the warm-up. Code compiled later shows its earlier tier.',
        ]
      : []),
    ...(regExpSeconds === undefined
      ? []
      : [
          `V8 names a regular expression only in a profile that was running when it compiled the expression, and then logs no tiers. So the server was started again and profiled for ${seconds(regExpSeconds)} in that way; the samples of a function that runs expressions are split between it and them in the proportion found there.`,
        ]),
    'Samples are merged by chain of callers: their order from left to right says nothing about time. Shares are of the samples in which the profiled thread ran; idle ones are left out.',
    ...(load === undefined
      ? []
      : [
          `µs are the CPU of the ${threadsText(profiled)} per request, measured by the system over the same span, split by samples. They include the profiler itself: compare them with each other, not with redline bench.`,
        ]),
    'One thread was profiled once. Another start may inline differently: shares move by more than the sampling error.',
    'Builtins that V8 inlines or calls without a frame count as their caller’s own time.',
  ];
  return methodList(sentences);
}
