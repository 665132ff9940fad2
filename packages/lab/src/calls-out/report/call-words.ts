import { fixed, percent, plural } from '../../report/format.ts';
import type { CallSystem } from '../preload/protocol.ts';
import type { CallGroup, CallOrder, CallsOfCaller, CallsSummary, CallTimes } from '../result.ts';

const words: Record<CallSystem, readonly [one: string, many: string]> = {
  PostgreSQL: ['query', 'queries'],
  MySQL: ['query', 'queries'],
  SQLite: ['query', 'queries'],
  MongoDB: ['query', 'queries'],
  Redis: ['command', 'commands'],
  HTTP: ['request', 'requests'],
};

const orders: Record<CallOrder, string> = {
  one: '',
  'one after another': 'one after another',
  together: 'together',
  mixed: 'some of them together',
};

/** Formats `10 queries, one after another, 1.6 ms; the same statement with another user_id`. */
export function callerText(caller: CallsOfCaller): string {
  const { count, order, groups } = caller;
  const [only] = groups;
  const repeated = groups.length === 1 ? repetitionText(only!) : '';
  return `${figureTexts(countOf(count, groups), order, caller)}${repeated === '' ? '' : `; ${repeated}`}`;
}

/** Formats `10 × SELECT * FROM orders WHERE user_id = $1`, of one group of a caller. */
export function groupText({ count, system, text }: CallGroup): string {
  const times = count === 1 ? '' : `${fixed(count)} × `;
  return `${times}${system} ${text}`;
}

/** Formats `findOrder, src/orders.js:12, called by attachOrders, src/orders.js:31`; empty without a place. */
export function placeText({ places }: CallGroup): string {
  const [own, by] = places.map(({ name, place }) => (name === '' ? place : `${name}, ${place}`));
  return by === undefined ? (own ?? '') : `${own}, called by ${by}`;
}

export function orderText(order: CallOrder): string {
  return orders[order];
}

/** Formats the notes on a group: its time if the caller has several, how its values differ, what the database says of it. */
export function groupNotes(group: CallGroup, { groups }: Pick<CallsOfCaller, 'groups'>): string[] {
  const { share, failed, explained } = group;
  return [
    ...(groups.length === 1 ? [] : [figureTexts('', group.order, group)]),
    ...(groups.length === 1 ? [] : [repetitionText(group)]),
    ...(share < 0.95 ? [`in ${percent(share)} of the requests`] : []),
    ...(failed > 0.005 ? [`${percent(failed)} fail`] : []),
    ...(explained === undefined ? [] : [explained.text]),
  ].filter((text) => text !== '');
}

/** Formats `The request waits for 2.1 ms of 3.4 ms: 12 calls, one after another.` */
export function summaryText({
  callers,
  ms,
  waitMs,
  cpuMs,
  count,
  order,
  requests,
}: CallsSummary): string {
  const groups = callers.flatMap((caller) => caller.groups);
  const how = orders[order] === '' ? '' : `, ${orders[order]}`;
  return `A request takes ${msText(ms.value)} in the server, and waits ${msText(waitMs.value)} of it for ${countOf(count, groups)}${how}; they use ${msText(cpuMs.value)} of CPU. Medians of ${plural(requests, 'request')}, sent one after the other.`;
}

/** Describes how the calls of one statement differ; empty for a single one. */
export function repetitionText({ count, distinct, system, text }: CallGroup): string {
  if (count < 2) return '';
  if (system === 'Redis')
    return `the same command with ${distinct === 1 ? 'the same' : 'other'} arguments`;
  if (system === 'HTTP' && distinct > 1)
    return /^(GET|HEAD) /.test(text) ? 'the same with another path' : 'to one path';
  if (system === 'HTTP') return 'the same request';
  const column = distinct > 1 ? onlyColumn(text) : undefined;
  if (distinct === 1) return 'the same statement with the same values';
  return `the same statement with ${column === undefined ? 'other values' : `another ${column}`}`;
}

/** Returns the column that the only value of a statement is compared with. */
function onlyColumn(text: string): string | undefined {
  const values = text.match(/\$\d+|\?|…/g) ?? [];
  if (new Set(values).size !== 1 || (values[0] === '?' && values.length > 1)) return undefined;
  return /([\p{L}_][\p{L}\p{N}_]*)["`\]]?\s*(?:=\s*(?:any\s*\()?|in\s*\(|in\s+\()\s*(?:\$\d+|\?|…)/iu.exec(
    text,
  )?.[1];
}

/** Returns the word for calls of one system, or of several. */
export function countOf(count: number, groups: readonly CallGroup[]): string {
  const known = new Set(groups.map(({ system }) => words[system]));
  const [one, many] = known.size === 1 ? [...known][0]! : ['call', 'calls'];
  return plural(count, one, many);
}

/** Formats a time as it is read: `1.6 ms`, `0.31 ms`, `12 µs`. */
export function msText(ms: number): string {
  if (ms < 0.0995) return `${fixed(ms * 1_000)}\u00a0µs`;
  return `${fixed(ms, ms < 0.995 ? 2 : ms < 99.5 ? 1 : 0)}\u00a0ms`;
}

/** Shorter waits are the event loop's own overhead. */
export const leastWaitMs = 0.02;

function figureTexts(count: string, order: CallOrder, { waitMs, cpuMs }: CallTimes): string {
  const wait =
    waitMs.value < leastWaitMs
      ? `${msText(cpuMs.value)} of CPU`
      : `${msText(waitMs.value)} and ${msText(cpuMs.value)} of CPU`;
  return [count, orders[order], wait].filter((text) => text !== '').join(', ');
}
