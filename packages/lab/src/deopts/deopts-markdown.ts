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
import { shown, statusOf, untold } from './words.ts';

/** A row for each place that optimised code was left at, and below what the reasons mean. */
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
  const told = new Map(
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
    rows.length === 0
      ? `No deopts in ${plural(result.functions.length, 'function')}.`
      : table(columns, rows),
    list([...told].map(([reason, explanation]) => `${escaped(reason)}: ${escaped(explanation)}`)),
    untold(result, functions.length),
  );
}
