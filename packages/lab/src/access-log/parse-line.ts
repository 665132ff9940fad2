import type { LoggedRequest, ParsedLine } from './logged-request.ts';
import { parseOtherJson } from './parse-json.ts';
import { parseText, pathOf, timeOf } from './parse-text.ts';

/** Requests whose end has not been logged yet; those that never end must not pile up. */
const mostPending = 100_000;

/**
 * Reads lines of pino (as pino-http, nestjs-pino and Fastify write them), winston, Nest, Caddy and morgan, and of the
 * common and combined formats of nginx and Apache, also mixed. Fastify describes a request in two lines, which are put
 * together by their id.
 */
export class LineParser {
  readonly #pending = new Map<unknown, LoggedRequest>();

  parse(line: string): ParsedLine {
    const text = line.trim();
    if (text === '') return 'other';
    return text.startsWith('{') ? this.#parseJson(text) : parseText(text);
  }

  #parseJson(text: string): ParsedLine {
    let entry: PinoEntry;
    try {
      entry = JSON.parse(text) as PinoEntry;
    } catch {
      return 'unreadable';
    }
    const { req, res, reqId, responseTime } = entry;
    if (req === undefined && res === undefined) {
      const parsed = parseOtherJson(entry as Record<string, unknown>);
      if (parsed !== undefined) return parsed;
    }
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
  const at = typeof time === 'string' ? timeOf(time) : time;
  return { method: req.method, path: pathOf(req.url), ...(at === undefined ? {} : { time: at }) };
}
