import {
  type Document,
  estimate,
  figure,
  name,
  notes,
  plot,
  type Section,
  table,
  words,
} from '../document/document.ts';
import { code, say, type Text, verdict } from '../document/text.ts';
import type { Interval } from '../figures.ts';
import { logAxis } from '../report/axis.ts';
import { type ColumnText, fixed, percent, plural, range, seconds } from '../report/format.ts';
import { markup } from '../report/markup.ts';
import { bandEdges, type Estimate, readingOf, spokenWord } from '../report/reading.ts';
import type { Section as PageSection } from '../report/page.ts';
import { machineFacts, processorText } from '../report/words.ts';
import { isProven, type ProveResult, type ProvenRule, type ProvenRuntime } from './result.ts';

/** One rule on one runtime. */
interface Row {
  rule: ProvenRule;
  node: string;
  /** The reason why it was not measured. */
  skipped?: string;
  measured?: { runtime: ProvenRuntime; gain: Estimate; text: ColumnText };
}

/** Shows the gain of each rule on each runtime. Raw blocks stay in the JSON. */
export function proveDocument(result: ProveResult, evidence: string): Document {
  const { rules, machine, precision, durationSeconds } = result;
  const [only] = rules;
  const runtimes = rules.flatMap((rule) => rule.runtimes);
  const timers = new Set(runtimes.filter(isProven).map(({ timer }) => timer));
  const nodes = [...new Set(runtimes.map(({ node }) => node))].join(', ');
  const rounds = `${plural(precision.restarts, 'restart')} × ${plural(precision.blocks, 'block')}`;
  return {
    ...result,
    label: 'PROVE',
    title: `${plural(rules.length, 'rule')}, Node ${nodes}`,
    pageTitle:
      rules.length === 1 ? `What ${only!.rule} gains` : `What ${plural(rules.length, 'rule')} gain`,
    aside: rounds,
    about: [
      `${processorText(machine)} · ${machine.kernel} · time before / time after, of that piece of code alone`,
    ],
    facts: [
      ...machineFacts(machine),
      ['Timed with', [...timers].join(', ')],
      ['Rounds', `${rounds} of ${precision.blockMs} ms in ${seconds(durationSeconds)}`],
      ['No difference', `± ${percent(precision.leastGain)}`],
    ],
    warnings: [],
    sections: [gains(result), { page: timedCode(result) }],
    method: [
      'Each side runs in a process of its own, so that neither sees the types the other received. Both sides were given the same inputs first and, unless stated otherwise, gave equal results.',
      `Every restart starts both processes and warms them up for ${precision.warmUpMs} ms; each block times both in a random order. Garbage collection is included.`,
      'Results are stored in an array that is reachable from the global object, so that the compiler cannot omit any.',
      `A block gives one log ratio, a restart its median, the estimate is their mean; the interval is a two-level bootstrap, ${fixed(precision.resamples)} times (seed ${precision.seed}).`,
      'A single operation in its own loop shows the most it can gain. In a program it is one of many, other code may have polluted its types, and it shares the caches: measure the program.',
    ],
    files: { evidence },
  };
}

function gains({ rules, precision }: ProveResult): Section {
  const rows = rules.flatMap((rule) =>
    rule.runtimes.map((runtime): Row => {
      if (!isProven(runtime)) return { rule, node: runtime.node, skipped: runtime.skipped };
      const gain = { ...runtime.ratio, reading: readingOf(runtime.verdict, runtime.ratio, true) };
      return { rule, node: runtime.node, measured: { runtime, gain, text: ratioText(gain) } };
    }),
  );
  const band = bandEdges(precision.leastGain);
  const values = rows.flatMap(({ measured }) =>
    measured ? [measured.gain.value, measured.gain.low, measured.gain.high] : [],
  );
  const within = `±\u00a0${percent(precision.leastGain)}`;
  return {
    id: 'gains',
    heading: 'Gain by rule and Node',
    lead: `Time of the code that the rule reports, divided by the time of the code that it suggests: above 1 the advice pays. Shaded: ${within}, which is negligible in any program.`,
    parts: [
      table<Row>(
        rows,
        [
          name('rule', ruleName, { width: '17em' }),
          words('runtime', ({ node }) => `node ${node}`, { width: '9em' }),
          plot(
            'before / after (log)',
            logAxis([...values, band.low, band.high]),
            ({ rule, node, measured }) =>
              measured && {
                title: `${rule.rule} on Node ${node}: ${measured.text.value} ×, ${spokenWord(measured.gain.reading)}`,
                text: `95 % interval ${measured.text.range}`,
                estimate: measured.gain,
              },
            { band },
          ),
          estimate('gain', ({ measured }) => measured?.text, { unit: '×' }),
          words('verdict', ({ measured }) => measured && verdict(measured.gain.reading)),
          figure(
            'before → after',
            ({ measured }) =>
              measured &&
              `${duration(measured.runtime.beforeNanos)} → ${duration(measured.runtime.afterNanos)}`,
          ),
        ],
        { skipped: ({ skipped }) => skipped, groupsNames: true },
      ),
      notes([
        say`${verdict('better')} for the better, ${verdict('worse')} for the worse: the interval lies wholly outside ${within}. ${verdict('same')}: around 1, and wholly inside. ${verdict('unresolved')}: neither.`,
      ]),
    ],
  };
}

function ruleName({ rule: { rule, changesResult } }: Row): Text {
  return changesResult === undefined ? code(rule) : say`${code(rule)}, changes the result`;
}

/** Shows both sides of each rule. */
function timedCode({ rules }: ProveResult): PageSection {
  return {
    id: 'code',
    heading: 'What was timed',
    body: markup`<p class="lead">Left: the code the rule reports. Right: the code it suggests.</p>${rules.map(
      ({ rule, before, after, changesResult }) =>
        markup`<h3>${rule}</h3>${changesResult !== undefined && markup`<p class="lead">Changes the result: ${changesResult}.</p>`}<div class="sides"><pre><code>${before}</code></pre><pre><code>${after}</code></pre></div>`,
    )}`,
    css: '#code .sides{display:grid;grid-template-columns:1fr 1fr;gap:var(--s3);margin-bottom:var(--s3)}#code pre{margin:0;padding:var(--s2);background:var(--soft);overflow-x:auto}#code code{overflow-wrap:normal}@media screen and (max-width:960px){#code .sides{grid-template-columns:minmax(0,1fr)}}\n',
  };
}

/** Formats ratios from 0.2 to 100 in one column: three digits each, rather than one number of decimals for all. */
export function ratioText(gain: Interval): ColumnText {
  const decimals = gain.high < 10 ? 2 : gain.high < 100 ? 1 : 0;
  return { value: fixed(gain.value, decimals), pad: '', range: range(gain, decimals) };
}

/** Formats nanoseconds per call, or µs from a thousand on. */
function duration(nanos: number): string {
  if (nanos >= 1_000) return `${fixed(nanos / 1_000, nanos >= 10_000 ? 0 : 1)} µs`;
  return `${fixed(nanos, nanos < 10 ? 1 : 0)} ns`;
}
