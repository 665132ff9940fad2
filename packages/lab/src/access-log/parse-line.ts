/** A request as a log tells of it. */
export interface LoggedRequest {
  method: string;
  /** With its query. */
  path: string;
  status?: number;
  durationMs?: number;
  /** Milliseconds since 1970. */
  time?: number;
}

/** `other`: a line that is in order and tells of no finished request. */
export type ParsedLine = LoggedRequest | 'other' | 'unreadable';

/** Requests whose end has not been logged yet; those that never end must not pile up. */
const mostPending = 100_000;

/**
 * Reads lines of pino (as pino-http, nestjs-pino and Fastify write them) and of the common and combined formats, also
 * mixed. Fastify tells of a request in two lines, which are put together by their id.
 */
export class LineParser {
  readonly #pending = new Map<unknown, LoggedRequest>();

  parse(line: string): ParsedLine {
    const text = line.trim();
    if (text === '') return 'other';
    return text.startsWith('{') ? this.#parseJson(text) : parseCombined(text);
  }

  #parseJson(text: string): ParsedLine {
    let entry: PinoEntry;
    try {
      entry = JSON.parse(text) as PinoEntry;
    } catch {
      return 'unreadable';
    }
    const { req, res, reqId, responseTime } = entry;
    const request = toRequest(entry);
    const isFinished = typeof responseTime === 'number' || res !== undefined;
    if (!isFinished) {
      if (request === undefined || reqId === undefined) return 'other';
      if (this.#pending.size < mostPending) this.#pending.set(reqId, request);
      return 'other';
    }
    const begun = request ?? this.#pending.get(reqId);
    if (reqId !== undefined) this.#pending.delete(reqId);
    if (begun === undefined) return req === undefined ? 'other' : 'unreadable';
    const status = res?.statusCode ?? entry.statusCode;
    return {
      ...begun,
      ...(typeof status === 'number' ? { status } : {}),
      ...(typeof responseTime === 'number' ? { durationMs: responseTime } : {}),
    };
  }
}

interface PinoEntry {
  time?: number | string;
  req?: { method?: unknown; url?: unknown };
  res?: { statusCode?: number };
  reqId?: unknown;
  responseTime?: unknown;
  statusCode?: number;
}

function toRequest({ req, time }: PinoEntry): LoggedRequest | undefined {
  if (typeof req?.method !== 'string' || typeof req.url !== 'string') return undefined;
  const at = typeof time === 'string' ? Date.parse(time) : time;
  return {
    method: req.method,
    path: pathOf(req.url),
    ...(at === undefined || Number.isNaN(at) ? {} : { time: at }),
  };
}

const combined =
  /^\S+ \S+ .*?\[([^\]]+)\] "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3}) (?:\d+|-)(?: "(?:[^"\\]|\\.)*" "(?:[^"\\]|\\.)*")?(.*)$/;

/** `host ident user [10/Oct/2026:13:55:36 +0200] "GET /x HTTP/1.1" 200 2326 "referer" "agent" 0.012` */
function parseCombined(text: string): ParsedLine {
  const found = combined.exec(text);
  if (found === null) return 'unreadable';
  const [, when, method, target, status, rest] = found;
  const time = parseTime(when!);
  const durationMs = parseDuration(rest!);
  return {
    method: method!,
    path: pathOf(target!),
    status: Number(status),
    ...(time === undefined ? {} : { time }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function parseTime(text: string): number | undefined {
  const parts = /^(\d+)\/(\w{3})\/(\d+):(\d+:\d+:\d+) ([+-]\d\d)(\d\d)$/.exec(text);
  if (parts === null) return undefined;
  const [, day, month, year, clock, hours, minutes] = parts;
  const number = String(months.indexOf(month!) + 1).padStart(2, '0');
  const time = Date.parse(`${year}-${number}-${day!.padStart(2, '0')}T${clock}${hours}:${minutes}`);
  return Number.isNaN(time) ? undefined : time;
}

/**
 * What servers append to the combined format: nginx its `$request_time` in seconds, with a point; Apache its `%D` in
 * microseconds, without one. The first number after the agent counts.
 */
function parseDuration(rest: string): number | undefined {
  const found = /(?:^|[\s"=])(\d+\.\d+|\d+)(?=$|[\s"])/.exec(rest)?.[1];
  if (found === undefined) return undefined;
  return found.includes('.') ? Number(found) * 1_000 : Number(found) / 1_000;
}

/** Proxies log the whole url. */
function pathOf(target: string): string {
  const path = target.replace(/^[a-z]+:\/\/[^/]+/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
