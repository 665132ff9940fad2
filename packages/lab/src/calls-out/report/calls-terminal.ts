import { cut, wrap } from '../../report/columns.ts';
import type { CallsSummary } from '../result.ts';
import { callerText, groupNotes, groupText, placeText, summaryText } from './call-words.ts';

const indent = '    ';
/** Further statements of a caller are on the page and in the data. */
const maxGroups = 5;
const maxCallers = 8;

/** Returns the block of what a request calls; none without calls. */
export function callsBlock(calls: CallsSummary | undefined, width: number): string[] {
  if (calls === undefined) return [];
  const inner = width - indent.length;
  const others = calls.callers.length - maxCallers;
  return [
    'CALLS    of one request, and what it waits for',
    ...wrap(summaryText(calls), inner).map((line) => indent + line),
    ...calls.callers
      .slice(0, maxCallers)
      .flatMap((caller) => [
        ...wrap(`${caller.name}: ${callerText(caller)}`, width, indent),
        ...caller.groups
          .slice(0, maxGroups)
          .flatMap((group) => [
            indent + cut(groupText(group), inner),
            ...[placeText(group), groupNotes(group, caller).join('; ')]
              .filter((text) => text !== '')
              .flatMap((text) => wrap(text, inner - 2).map((line) => `${indent}  ${line}`)),
          ]),
        ...(caller.groups.length > maxGroups
          ? [`${indent}and ${caller.groups.length - maxGroups} more`]
          : []),
      ]),
    ...(others > 0 ? [`and ${others} more functions or stages, on the page`] : []),
  ];
}
