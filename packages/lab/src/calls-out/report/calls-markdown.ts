import { code, escaped, table } from '../../report/markdown.ts';
import type { CallsSummary } from '../result.ts';
import {
  countOf,
  groupNotes,
  groupText,
  msText,
  orderText,
  placeText,
  repetitionText,
  summaryText,
} from './call-words.ts';

/** Returns what a request calls, as a sentence and a table; undefined without calls. */
export function callsMarkdown(calls: CallsSummary | undefined): string | undefined {
  if (calls === undefined) return undefined;
  const rows = calls.callers.flatMap((caller) =>
    caller.groups.map((group) => [
      code(caller.name),
      code(groupText({ ...group, count: 1 })),
      [countOf(group.count, [group]), orderText(group.order)].filter(Boolean).join(', '),
      msText(group.waitMs.value),
      msText(group.cpuMs.value),
      escaped(
        [...new Set([repetitionText(group), ...groupNotes(group, { groups: [group] })])]
          .filter(Boolean)
          .join('; '),
      ),
      code(placeText(group)),
    ]),
  );
  const columns = [
    'called by',
    'statement',
    'calls',
    { right: 'wait' },
    { right: 'CPU' },
    'note',
    'place',
  ];
  return `${escaped(summaryText(calls))}\n\n${table(columns, rows)}`;
}
