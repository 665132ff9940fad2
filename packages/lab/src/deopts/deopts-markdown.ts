import { profiledText } from '../profile/profiled-thread.ts';
import { tierNames } from '../profile/tiers.ts';
import { percent, plural } from '../report/format.ts';
import {
  code,
  escaped,
  heading,
  list,
  markdownOf,
  table,
  warningList,
} from '../report/markdown.ts';
import type { DeoptsResult } from './result.ts';
import { leftOutText, shown, statusOf } from './words.ts';

/** Renders a row for each place where optimised code was left, with the meaning of the reasons below. */
export function deoptsMarkdown(result: DeoptsResult, all: boolean): string {
  const functions = shown(result, all);
  const hasProfile = functions.some(({ own }) => own !== undefined);
  const rows = functions.flatMap((each) =>
    each.sites.map((site) => [
      code(each.name),
      ...(hasProfile ? [each.own === undefined ? '' : percent(each.own)] : []),
      String(site.times),
      escaped(site.reason),
      `${tierNames[site.from]} (${site.kind})`,
      statusOf(each, site),
      code(site.place || each.place),
      code(site.source?.text ?? ''),
    ]),
  );
  const columns = [
    'function',
    ...(hasProfile ? [{ right: 'own time' }] : []),
    { right: 'times' },
    'reason',
    'left',
    'state',
    'place',
    'line',
  ];
  const explanations = new Map(
    functions
      .flatMap(({ sites }) => sites)
      .flatMap(({ reason, explanation }) =>
        explanation === undefined ? [] : [[reason, explanation] as const],
      ),
  );
  return markdownOf(
    heading(
      `${result.title}, ${result.variant}${result.node === undefined ? '' : `, Node ${result.node}`}`,
    ),
    warningList(result.warnings),
    result.profiled && `Of ${escaped(profiledText(result.profiled))}.`,
    rows.length === 0
      ? `No deopts in ${plural(result.functions.length, 'function')}.`
      : table(columns, rows),
    list(
      [...explanations].map(
        ([reason, explanation]) => `${escaped(reason)}: ${escaped(explanation)}`,
      ),
    ),
    leftOutText(result, functions.length),
  );
}
