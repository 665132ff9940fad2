// cspell:ignore HGETALL
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { callerText, groupText, placeText } from '../../calls-out/report/call-words.ts';
import type { CallGroup, CallsOfCaller, CallsSummary, CallTimes } from '../../calls-out/result.ts';
import { timeOf } from '../../calls-out/summarise-calls.ts';
import type { Candidate } from '../examine.ts';
import type { Finding, Waits } from '../result.ts';
import { nPlusOne } from '../rules/data/n-plus-one.ts';
import { sequentialAwaits } from '../rules/data/sequential-awaits.ts';

/** Number of calls with one statement from which they are a finding. */
const leastRepeated = 3;
/** Share of the time of a request from which a single call is a finding. */
const leastShare = 0.3;
/** Lines of a statement of code: a call in it is at one of them. */
const maxLines = 5;

interface Observed {
  rule: string;
  title: string;
  how: string;
  /** Rule of the code that finds the same. */
  sameAs?: string;
  sure: Finding['sure'];
  why: string;
  group: CallGroup;
  times: CallTimes;
  count: number;
}

/**
 * Adds to findings what the requests were seen to wait for, and returns further findings for calls that no rule has found in
 * the code.
 * @param folder Folder of the app.
 */
export function withWaits(
  candidates: readonly Candidate[],
  calls: CallsSummary | undefined,
  folder: string,
): Candidate[] {
  if (calls === undefined) return [...candidates];
  const changed = new Map<Candidate, Candidate>();
  const further: Candidate[] = [];
  for (const observed of observedIn(calls)) {
    const waits = waitsOf(observed, calls);
    const same = candidates.find((each) => !changed.has(each) && isSame(each.finding, observed));
    if (same === undefined) {
      further.push(...candidateOf(observed, waits, folder));
      continue;
    }
    const why = `${same.finding.why} Seen here: ${observed.why}`;
    const finding = { ...same.finding, why, waits, isOnMeasuredPath: true };
    changed.set(same, { ...same, finding });
  }
  return [...candidates.map((each) => changed.get(each) ?? each), ...further];
}

function* observedIn(calls: CallsSummary): Generator<Observed> {
  for (const caller of calls.callers) {
    const repeated = caller.groups.filter(({ count }) => count > 1);
    for (const group of repeated) {
      const found = repeatedCall(group);
      if (found !== undefined) yield found;
    }
    const once = caller.groups.filter(({ count }) => count === 1);
    const found = onceAfterAnother(caller, once);
    if (found !== undefined) yield found;
    else for (const group of once) yield* longCall(group, calls);
  }
}

function repeatedCall(group: CallGroup): Observed | undefined {
  const what = { group, times: group, count: group.count };
  const why = ofGroup(group);
  if (group.distinct === 1) {
    return {
      rule: 'same-call-again',
      title: 'the same call more than once for one request',
      how: 'Call once, and pass the result on or keep it for the request.',
      sure: 'likely',
      why,
      ...what,
    };
  }
  if (group.count < leastRepeated) return undefined;
  return {
    rule: 'calls-for-each-item',
    title: 'a call for each item of a list',
    how: howForEach(group),
    sameAs: nPlusOne.id,
    sure: 'certain',
    why,
    ...what,
  };
}

function howForEach({ system }: CallGroup): string {
  if (system === 'Redis') return 'Send one command for all items: MGET, or a pipeline.';
  if (system === 'HTTP')
    return 'Request all items at once where the other service can; otherwise start the requests together.';
  return 'Query once for all items (WHERE id = ANY($1), "in", $in, include or a join), and match the rows to the items with a Map.';
}

/** Reads of different statements, each of which waits for the one before: whether they depend on each other, the code shows. */
function onceAfterAnother(
  caller: CallsOfCaller,
  groups: readonly CallGroup[],
): Observed | undefined {
  const [, second] = groups;
  if (second === undefined || caller.order !== 'one after another') return undefined;
  if (!groups.every(reads) || new Set(groups.map(({ system }) => system)).size > 1)
    return undefined;
  const parts = groups.map((group) => groupText(group)).join('; ');
  return {
    rule: 'calls-one-after-another',
    title: 'calls that wait for each other',
    how: 'Where none needs the result of another, start them together: await Promise.all([…]).',
    sameAs: sequentialAwaits.id,
    sure: 'hint',
    why: `${caller.name}: ${callerText(caller)}: ${parts}`,
    group: second,
    times: caller,
    count: caller.count,
  };
}

function reads({ text, system }: CallGroup): boolean {
  if (system === 'HTTP') return /^(GET|HEAD) /.test(text);
  // Further commands that only read are no hint then.
  if (system === 'Redis') return /^(MGET|H?GET|HGETALL|TTL) /.test(text);
  return /^\s*(select|with|find|count|aggregate|distinct)\b/i.test(text);
}

function* longCall(group: CallGroup, { ms }: CallsSummary): Generator<Observed> {
  if (group.share < 0.5 || timeOf(group) < leastShare * ms.value) return;
  yield {
    rule: 'long-call',
    title: 'a call that most of the response waits for',
    how:
      group.explained === undefined && /^(SELECT|WITH)/i.test(group.text)
        ? 'Look at its plan: --database URL adds it. Keep the result if it changes seldom.'
        : 'Make it shorter, or keep the result if it changes seldom.',
    sure: 'hint',
    why: ofGroup(group),
    group,
    times: group,
    count: 1,
  };
}

function ofGroup(group: CallGroup): string {
  const plan = group.explained === undefined ? '' : `; ${group.explained.text}`;
  const place = placeText(group);
  const text = callerText({ ...group, name: '', place: '', groups: [group] });
  return `${place === '' ? '' : `${place}: `}${text}: ${group.text}${plan}`;
}

function isSame({ rule, file, line }: Finding, { sameAs, group }: Observed): boolean {
  return (
    rule === sameAs &&
    group.places.some(({ place }) => {
      const [, ownFile, ownLine] = /^(.*):(\d+)$/.exec(place) ?? [];
      const below = Number(ownLine) - line;
      return ownFile === file && below >= 0 && below < maxLines;
    })
  );
}

function waitsOf({ times, count, group }: Observed, { ms }: CallsSummary): Waits {
  return {
    ms: times.waitMs.value,
    cpuMs: times.cpuMs.value,
    share: Math.min(1, timeOf(times) / ms.value),
    calls: count,
    statement: group.text,
    ...(group.explained === undefined ? {} : { explained: group.explained.text }),
  };
}

/** Returns nothing for a call without a place in the app. */
function candidateOf(
  { rule, title, how, sure, why, group }: Observed,
  waits: Waits,
  folder: string,
): Candidate[] {
  const [first] = group.places;
  const [, file, line] = /^(.*):(\d+)$/.exec(first?.place ?? '') ?? [];
  if (first === undefined || file === undefined) return [];
  const finding: Finding = {
    rule,
    title,
    file,
    line: Number(line),
    column: first.column,
    excerpt: lineIn(resolve(folder, file), Number(line)),
    sure,
    why,
    how,
    diff: '',
    waits,
    isOnMeasuredPath: true,
  };
  return [{ finding, edits: [] }];
}

function lineIn(path: string, line: number): string {
  try {
    return (readFileSync(path, 'utf8').split('\n')[line - 1] ?? '').trim().slice(0, 160);
  } catch {
    // Compiled as it is loaded, from a file elsewhere.
    return '';
  }
}
