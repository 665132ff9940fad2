import {
  detail,
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
import { code, say } from '../document/text.ts';
import { ratioText } from '../prove/prove-document.ts';
import { logAxis } from '../report/axis.ts';
import { fixed, percent, plural } from '../report/format.ts';
import type { Advice, AdviseResult } from './result.ts';

/** Shows the hits of rules in hot functions, most time first. */
export function adviseDocument(result: AdviseResult): Document {
  const { title, node, profile, advice, leastShare } = result;
  const samples = `${plural(profile.samples, 'sample')} in ${fixed(profile.seconds, 1)} s; ${samplingText(result)}`;
  const measuredOn = new Set(advice.map(({ gain }) => gain.node));
  return {
    ...result,
    label: 'ADVISE',
    pageTitle: `Advice for ${title}`,
    aside: `${plural(advice.length, 'hit')} · Node ${node}`,
    about: [`${profile.from}, ${samples}.`],
    facts: [
      ['Profile', profile.from],
      ['Samples', samples],
      ['Gains measured on', `Node ${[...measuredOn].join(', ') || node}`],
      ['Looked at', `functions with ${percent(leastShare)} of the time or more`],
    ],
    warnings: result.unread.map(({ url, why }) => `${url} could not be read: ${why}`),
    sections: [hits(result), ...leftOut(result)],
    method: [
      'Time is that of the function, with the builtins it calls and the functions written inside it. The gain is that of the piece of code alone, measured on this Node: the time of the code before divided by the time after, each alone in a loop in a process of its own, on the inputs of the rule’s proof. redline prove repeats it.',
      'A hit says that the code has the form the rule looks for and that its function is hot. It does not say that this line makes it hot: measure the request before and after.',
      'Rules look at one file at a time and know the types of values only as far as that file shows. They miss what it does not show.',
    ],
    ...(advice.length > 0 && { next: `redline prove ${advice[0]!.rule}` }),
  };
}

function hits({ advice, node, leastShare }: AdviseResult): Section {
  const axis = logAxis(advice.flatMap(({ gain }) => [gain.low, gain.high]));
  const rows = table<Advice>(advice, [
    name('rule', ({ rule }) => code(rule), { width: '46%' }),
    figure('time', ({ share }) => percent(share), { isMain: true }),
    plot(
      'gain, × (log)',
      axis,
      ({ rule, gain, ...at }) => ({
        title: `${rule} at ${placeOf(at)}: ${ratioText(gain).value} ×`,
        text: `95 % interval ${ratioText(gain).range}, Node ${gain.node}`,
        estimate: { ...gain, reading: 'better' },
      }),
      { in: ['page'] },
    ),
    estimate('gain', ({ gain }) => ratioText(gain), { unit: '×' }),
    words('rewrite', rewriteWords, { width: '11em' }),
    detail('function, place', (each) => say`${code(each.function)} ${code(placeOf(each))}`),
    detail(
      'rule says',
      ({ text, changesResult }) => [text, changesResult ?? ''].filter(Boolean).join('; '),
      {
        in: ['page'],
      },
    ),
    detail('line', (each) => code(each.code), { isCode: true }),
    detail('rewritten', ({ rewrite }) => code(rewrite?.text ?? ''), { isCode: true, in: ['page'] }),
  ]);
  const none = `No rule that gains on Node ${node} is hit in a function with ${percent(leastShare)} of the time or more.`;
  const explained =
    'time: of the function, with the builtins it calls. gain: of that piece of code alone, as measured on this Node; the request gains less.';
  return {
    id: 'advice',
    heading: 'Advice',
    parts: advice.length === 0 ? [notes([none])] : [rows, notes([explained])],
  };
}

function leftOut({ leftOut: rules }: AdviseResult): Section[] {
  if (rules.length === 0) return [];
  const texts = rules.map(
    ({ rule, hits: count, why }) => say`Left out: ${code(rule)}, ${plural(count, 'hit')}: ${why}.`,
  );
  return [{ id: 'left-out', heading: 'Left out', parts: [notes(texts)] }];
}

function placeOf({ file, line }: Pick<Advice, 'file' | 'line'>): string {
  return `${file}:${line}`;
}

/** Describes the rewrite: safe to apply unseen, to be reviewed first, or to be written by hand. */
function rewriteWords({ rewrite, changesResult }: Advice): string {
  if (rewrite === undefined) return 'by hand';
  if (rewrite.isSafe) return 'safe to fix';
  return changesResult === undefined ? 'review first' : 'changes the result';
}

/** States the sampling error of a share of 1 %, which remains even on a good machine. */
function samplingText({ profile }: AdviseResult): string {
  const error = 1.96 * Math.sqrt(0.01 * 0.99 * (1 / Math.max(1, profile.samples)));
  return `a share of 1 % is known to ± ${(error * 100).toFixed(2)} %`;
}
