import type { LoggedRequest } from '../logged-request.ts';

export type DurationUnit = 's' | 'ms' | 'µs' | 'ns';

const unitMs: Record<DurationUnit, number> = { s: 1_000, ms: 1, µs: 1e-3, ns: 1e-6 };
const units: Record<string, number> = { s: 1_000, ms: 1, µs: 1e-3, μs: 1e-3, us: 1e-3, ns: 1e-6 };

/** No server waits this long: a longer duration is a field with another meaning, such as a time of day. */
const maxDurationMs = 86_400_000;

/** The fields of a line as they were found. */
export interface RawFields {
  method?: unknown;
  target?: unknown;
  /** `GET /x HTTP/1.1`, in place of method and target. */
  request?: unknown;
  status?: unknown;
  time?: unknown;
  durationMs?: number | undefined;
}

const requestLine = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/;

/** Builds the request, if the line has a method, a target and a status. */
export function requestOf(fields: RawFields): LoggedRequest | undefined {
  let { method, target } = fields;
  if (typeof fields.request === 'string')
    [, method, target] = requestLine.exec(fields.request) ?? [];
  const status = Number(fields.status);
  if (
    typeof method !== 'string' ||
    !/^[A-Za-z]+$/.test(method) ||
    typeof target !== 'string' ||
    !(status >= 100 && status < 600)
  ) {
    return undefined;
  }
  const request: LoggedRequest = { method: method.toUpperCase(), path: pathOf(target), status };
  const { durationMs } = fields;
  if (durationMs !== undefined && durationMs >= 0 && durationMs <= maxDurationMs) {
    request.durationMs = durationMs;
  }
  const time = timeOf(fields.time);
  if (time !== undefined) request.time = time;
  return request;
}

/** Converts a number of the given unit; a text with its own unit, such as `401ms`, is read by that one. */
export function toMs(value: unknown, unit: DurationUnit): number | undefined {
  if (typeof value === 'string') {
    const withUnit = durationIn(value);
    if (withUnit !== undefined) return withUnit;
    if (value.trim() === '') return undefined;
  }
  const number =
    typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
  // Rounded to 1 ns: 0.401 s is 401 ms, not 401.00000000000006.
  return Number.isNaN(number) ? undefined : Math.round(number * unitMs[unit] * 1e6) / 1e6;
}

/** Returns the last duration with a unit, in milliseconds: ages and sizes may come before it. */
export function durationIn(text: string): number | undefined {
  const [, figure, unit] =
    [...text.matchAll(/(\d+(?:\.\d+)?) ?(ms|µs|μs|us|ns|s)(?![\w])/g)].at(-1) ?? [];
  return figure === undefined ? undefined : Number(figure) * units[unit!]!;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ofServers = /^(\d+)\/(\w{3})\/(\d+):(\d+:\d+):(\d+(?:\.\d+)?)(?: ([+-]\d\d)(\d\d))?$/;

let lastMinute = '';
let lastMinuteMs = 0;

/** Converts a logger's time to milliseconds since 1970: seconds or milliseconds as a number, or a date. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return ofNumber(value);
  if (typeof value !== 'string') return undefined;
  const parts = ofServers.exec(value);
  if (parts === null) {
    return /^\d{9,13}(?:\.\d+)?$/.test(value)
      ? ofNumber(Number(value))
      : ofNumber(Date.parse(value));
  }
  const [, day, month, year, clock, second, hours = '+00', minutes = '00'] = parts;
  // Cached, because the lines of one minute follow each other; Date.parse took a fifth of the time of a line.
  const minute = `${day}${month}${year}${clock}${hours}${minutes}`;
  if (minute !== lastMinute) {
    const number = String(months.indexOf(month!) + 1).padStart(2, '0');
    const date = `${year}-${number}-${day!.padStart(2, '0')}T${clock}:00${hours}:${minutes}`;
    lastMinuteMs = Date.parse(date);
    lastMinute = minute;
  }
  return Number.isNaN(lastMinuteMs) ? undefined : lastMinuteMs + Number(second) * 1_000;
}

function ofNumber(time: number): number | undefined {
  if (Number.isNaN(time)) return undefined;
  // Seconds: as milliseconds these values would be in the first four months of 1970.
  return time < 1e10 ? time * 1_000 : time;
}

/** Strips the origin, because proxies log the whole URL. */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^[a-z]+:\/\/[^/?#]+/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
