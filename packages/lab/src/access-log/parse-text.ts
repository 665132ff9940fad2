import type { LoggedRequest, ParsedLine } from './logged-request.ts';

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

/** A line that is not JSON: the common and combined formats, and what loggers write in words. */
export function parseText(line: string): ParsedLine {
  const text = line.replaceAll(escapes, '').trim();
  return (
    parseCombined(text) ?? parseWords(text) ?? (isOfLogger.test(text) ? 'other' : 'unreadable')
  );
}

const combined =
  /^\S+ \S+ .*?\[([^\]]+)\] "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3}) (?:\d+|-)(?: "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*")?(.*)$/;

/** `host ident user [10/Oct/2026:13:55:36 +0200] "GET /x HTTP/1.1" 200 2326 "referer" "agent" 0.012` */
function parseCombined(text: string): LoggedRequest | undefined {
  const found = combined.exec(text);
  if (found === null) return undefined;
  const [, when, method, target, status, rest] = found;
  return requestOf([method!, target!, status!], {
    time: parseTime(when!),
    durationMs: parseDuration(rest!),
  });
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function parseTime(text: string): number | undefined {
  const parts = /^(\d+)\/(\w{3})\/(\d+):(\d+:\d+:\d+) ([+-]\d\d)(\d\d)$/.exec(text);
  if (parts === null) return timeOf(text);
  const [, day, month, year, clock, hours, minutes] = parts;
  const number = String(months.indexOf(month!) + 1).padStart(2, '0');
  return timeOf(`${year}-${number}-${day!.padStart(2, '0')}T${clock}${hours}:${minutes}`);
}

/**
 * What servers append to the combined format: nginx its `$request_time` in seconds, with a point; Apache its `%D` in
 * microseconds, without one. The first number after the agent counts.
 */
function parseDuration(rest: string): number | undefined {
  const found = /(?:^|[\s"=])(\d+\.\d+|\d+)(?=$|[\s"])(?! ?m?s\b)/.exec(rest)?.[1];
  if (found === undefined) return durationIn(rest);
  return found.includes('.') ? Number(found) * 1_000 : Number(found) / 1_000;
}

/** `GET /x 200 12 - 3.4 ms` of morgan, and the same with a level, a time or a context before it, as winston and Nest write it. */
const words =
  /(?:^|[\s["'(])(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)[\]"')]?:? +"?((?:https?:\/)?\/[^\s"]*)"?(?: HTTP\/[\d.]+"?)?[\s,:|>–—-]+(?:status(?:Code)?[=: ]+)?\(?([1-5]\d\d)\b(.*)$/;
const nest = /^\[[^\]]+\] \d+ +- /;
/** How loggers begin a line, whatever it says: `[Nest] 17 - …`, `info: …`, `2026-11-23T02:00:00.000Z [info] …`. */
const isOfLogger =
  /^\[[^\]]+\] \d+ +- |^(?:\S+ )?\[?(?:error|warn|info|http|verbose|debug|silly)\]?: ?\S/i;

/** The text a logger was given for a request that was answered. */
export function parseWords(text: string): LoggedRequest | undefined {
  const found = words.exec(text);
  if (found === null) return undefined;
  const [, method, target, status, after] = found;
  const isNest = nest.test(text);
  // Nest says at the end how long it was silent, which is nobody's duration.
  const rest = isNest ? after!.replace(/ \+\d+ms$/, '') : after!;
  const before = text.slice(0, found.index);
  return requestOf([method!, target!, status!], {
    time: timeIn(before),
    durationMs: durationIn(rest),
  });
}

function requestOf(
  [method, target, status]: readonly [method: string, target: string, status: string],
  { time, durationMs }: { time: number | undefined; durationMs: number | undefined },
): LoggedRequest {
  return {
    method,
    path: pathOf(target),
    status: Number(status),
    ...(time === undefined ? {} : { time }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

function timeIn(text: string): number | undefined {
  const found =
    /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?/.exec(text)?.[0] ??
    /\d+\/\d+\/\d{4}, \d+:\d+:\d+(?:\s[AP]M)?/.exec(text)?.[0];
  return found === undefined ? undefined : timeOf(found.replaceAll(/\s/g, ' '));
}

const units: Record<string, number> = { s: 1_000, ms: 1, µs: 1e-3, μs: 1e-3, us: 1e-3 };

/** The last duration with a unit: before it there may be ages and sizes. */
export function durationIn(text: string): number | undefined {
  const [, figure, unit] =
    [...text.matchAll(/(\d+(?:\.\d+)?) ?(ms|µs|μs|us|s)(?![\w])/g)].at(-1) ?? [];
  return figure === undefined ? undefined : Number(figure) * units[unit!]!;
}

/** Milliseconds since 1970 of whatever a logger writes: seconds or milliseconds as a number, or a date. */
export function timeOf(value: unknown): number | undefined {
  const time =
    typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  if (Number.isNaN(time)) return undefined;
  // Seconds: as milliseconds these would be the first four months of 1970.
  return time < 1e10 ? time * 1_000 : time;
}

/** Proxies log the whole url. */
export function pathOf(target: string): string {
  const path = target.replace(/^[a-z]+:\/\/[^/]+/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
