import type { AdviseResult } from './result.ts';
import { adviseFigures, rewriteWords, samplingText } from './advise-rows.ts';
import { fixed, percent, plural } from '../report/format.ts';
import {
  code,
  escaped,
  heading,
  list,
  markdownOf,
  table,
  warningList,
} from '../report/markdown.ts';

/** Renders a row for each hit, most time first. */
export function adviseMarkdown(result: AdviseResult): string {
  const { profile, node, leftOut, unread, leastShare } = result;
  const rows = adviseFigures(result).rows.map(({ advice, text, place }) => [
    percent(advice.share),
    code(advice.rule),
    `${text.value} ${text.range}`,
    rewriteWords(advice),
    code(advice.function),
    code(place),
    code(advice.code),
  ]);
  const columns = [
    { right: 'time' },
    'rule',
    { right: 'gain ×' },
    'rewrite',
    'function',
    'place',
    'line',
  ];
  return markdownOf(
    heading(`${result.title}, Node ${node}`),
    warningList(unread.map(({ url, why }) => `${url} could not be read: ${why}`)),
    escaped(
      `${profile.from}, ${plural(profile.samples, 'sample')} in ${fixed(profile.seconds, 1)} s; ${samplingText(result)}.`,
    ),
    rows.length > 0
      ? table(columns, rows)
      : `No rule that gains on Node ${node} is hit in a function with ${percent(leastShare)} of the time or more.`,
    rows.length > 0
      ? 'time: of the function, with the builtins it calls. gain: of that piece of code alone; the request gains less.'
      : undefined,
    list(
      leftOut.map(
        ({ rule, hits, why }) => `${code(rule)} (${fixed(hits)}) left out: ${escaped(why)}`,
      ),
    ),
  );
}
