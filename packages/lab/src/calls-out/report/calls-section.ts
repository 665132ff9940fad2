import {
  figure,
  type Item,
  items,
  name,
  notes,
  type Section,
  table,
  words,
} from '../../document/document.ts';
import { code } from '../../document/text.ts';
import { markup } from '../../report/markup.ts';
import type { CallGroup, CallsOfCaller, CallsSummary } from '../result.ts';
import {
  callerText,
  countOf,
  groupNotes,
  groupText,
  msText,
  orderText,
  placeText,
  repetitionText,
  summaryText,
} from './call-words.ts';

/** Further callers, and further statements of one, are on the page and in the data. */
const maxCallers = 8;
const maxGroups = 5;

/** Returns the section of what a request calls; none without calls. */
export function callsSections(calls: CallsSummary | undefined): Section[] {
  if (calls === undefined) return [];
  const { callers } = calls;
  const summary = summaryText(calls);
  const others = callers.length - maxCallers;
  const rows = callers.flatMap((caller) => caller.groups.map((group) => ({ caller, group })));
  const inTerminal = callers.slice(0, maxCallers).map((caller) => itemOf(caller, maxGroups));
  return [
    {
      id: 'calls',
      heading: 'Calls',
      label: 'CALLS    of one request, and what it waits for',
      lead: `${summary} Wait: time with at least one call open and the event loop idle. CPU: of the thread meanwhile, by drivers and by the app.`,
      parts: [
        notes([summary], ['terminal', 'markdown']),
        items(inTerminal, ['terminal']),
        notes(others > 0 ? [`and ${others} more functions or stages, on the page`] : [], [
          'terminal',
        ]),
        items(
          callers.map((caller) => itemOf(caller, Number.POSITIVE_INFINITY)),
          ['page'],
        ),
        table<(typeof rows)[number]>(
          rows,
          [
            name('called by', ({ caller }) => code(caller.name)),
            words('statement', ({ group }) => code(groupText({ ...group, count: 1 }))),
            words('calls', ({ group }) =>
              [countOf(group.count, [group]), orderText(group.order)].filter(Boolean).join(', '),
            ),
            figure('wait', ({ group }) => msText(group.waitMs.value)),
            figure('CPU', ({ group }) => msText(group.cpuMs.value)),
            words('note', ({ group }) => tableNote(group)),
            words('place', ({ group }) => code(placeText(group))),
          ],
          { in: ['markdown'] },
        ),
      ],
    },
  ];
}

function itemOf(caller: CallsOfCaller, max: number): Item {
  const more = caller.groups.length - max;
  return {
    title: `${caller.name}: ${callerText(caller)}`,
    aside: '',
    lines: [
      ...caller.groups.slice(0, max).flatMap((group) => {
        const statement = groupText(group);
        const below = [placeText(group), groupNotes(group, caller).join('; ')];
        return [
          { terminal: [statement], page: markup`<p><code>${statement}</code></p>` },
          ...below.filter((text) => text !== ''),
        ];
      }),
      ...(more > 0 ? [`and ${more} more`] : []),
    ],
  };
}

function tableNote(group: CallGroup): string {
  const texts = [repetitionText(group), ...groupNotes(group, { groups: [group] })];
  return [...new Set(texts)].filter(Boolean).join('; ');
}
