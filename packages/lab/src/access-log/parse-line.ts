import { CombinedReader } from './formats/combined.ts';
import { timeOf, pathOf } from './formats/fields.ts';
import { type Fields, readJson, reqResFormat, tookIn } from './formats/json.ts';
import { looseFormats, proxyFormats, TextReader } from './formats/proxies.ts';
import { W3cReader } from './formats/w3c.ts';
import { isOfLogger, readWords } from './formats/words.ts';
import { unwrap } from './formats/wrappers.ts';
import type { DeclaredFormat } from './declared-format.ts';
import type { LoggedRequest, MetFormat, ParsedLine } from './logged-request.ts';

/** Max requests held until their end is logged; those that never end must not pile up. */
const maxPending = 100_000;
const escapes = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');

/**
 * Reads lines by the table of formats, which a log may mix, without the prefixes of containers and journals. Fastify describes a
 * request in two lines, which are joined by process and id: each process counts from `req-1`.
 */
export class LineParser {
  readonly #declared: DeclaredFormat | undefined;
  readonly #pending = new Map<string, LoggedRequest>();
  readonly #combined = new CombinedReader();
  readonly #proxies = new TextReader(proxyFormats);
  readonly #loose = new TextReader(looseFormats);
  readonly #w3c = new W3cReader();
  readonly #met = new Map<string, MetFormat>();
  /** Completed requests whose first line is not in the log. */
  withoutBegin = 0;

  /** @param declared Reads every line, instead of the table. */
  constructor(declared?: DeclaredFormat) {
    this.#declared = declared;
  }

  /** The formats of the lines so far, the most frequent first. */
  get formats(): MetFormat[] {
    return [...this.#met.values()].toSorted((a, b) => b.requests - a.requests);
  }

  parse(line: string): ParsedLine {
    if (this.#declared !== undefined) {
      const request = this.#declared.read(line);
      return request === undefined ? 'unreadable' : this.#count(request, this.#declared, line);
    }
    // The usual line of a proxy needs neither unwrapping nor a search for colours.
    const direct = this.#combined.read(line);
    if (direct !== undefined) return this.#count(direct, this.#combined.format, line);
    const trimmed = line.trim();
    if (trimmed === '') return 'other';
    return this.#parseAny(trimmed, line);
  }

  #parseAny(given: string, line: string): ParsedLine {
    if (given.startsWith('{')) return this.#parseJson(given, '');
    const w3c = this.#w3c.read(given);
    if (w3c === 'other') return w3c;
    if (w3c !== undefined) return this.#count(w3c, this.#w3c.format, line);
    const text = given.includes(String.fromCharCode(27))
      ? given.replaceAll(escapes, '').trim()
      : given;
    const whole = this.#readText(text, line);
    if (whole !== undefined) return whole;
    const { text: inner, who } = unwrap(text);
    if (inner !== text) {
      if (inner.startsWith('{')) return this.#parseJson(inner, who);
      const read = this.#readText(inner, line);
      if (read !== undefined) return read;
    }
    const loose = this.#loose.read(inner);
    if (loose !== undefined) return this.#count(loose, this.#loose.format, line);
    const request = readWords(inner) ?? readWords(text);
    if (request !== undefined) return this.#count(request, words, line);
    return isOfLogger(inner) || inner === '' ? 'other' : 'unreadable';
  }

  #readText(text: string, line: string): LoggedRequest | undefined {
    const combined = this.#combined.read(text);
    if (combined !== undefined) return this.#count(combined, this.#combined.format, line);
    const proxied = this.#proxies.read(text);
    return proxied && this.#count(proxied, this.#proxies.format, line);
  }

  #parseJson(text: string, who: string): ParsedLine {
    let entry: PinoEntry;
    try {
      entry = JSON.parse(text) as PinoEntry;
    } catch {
      return 'unreadable';
    }
    // A container's own JSON holds the program's line as a string.
    if (
      typeof entry.log === 'string' &&
      (entry.stream !== undefined || entry['time'] !== undefined)
    ) {
      return this.#parseAny(entry.log.trim() || ' ', entry.log);
    }
    const { req, res } = entry;
    if (typeof req !== 'object' && typeof res !== 'object') {
      const parsed = readJson(entry as Fields);
      if (parsed !== undefined) return this.#count(parsed.request, parsed.format, text);
      const message = entry['message'] ?? entry['msg'];
      const request = typeof message === 'string' ? this.#readMessage(message, entry) : undefined;
      if (request !== undefined) return this.#count(request, words, text);
    }
    return this.#parseReqRes(entry, who, text);
  }

  #readMessage(message: string, entry: Fields): LoggedRequest | undefined {
    const text = message.replaceAll(escapes, '').trim();
    const request = this.#combined.read(text) ?? readWords(text);
    const time = timeOf(entry['timestamp'] ?? entry['time']);
    return request === undefined || time === undefined ? request : { ...request, time };
  }

  #parseReqRes(entry: PinoEntry, who: string, line: string): ParsedLine {
    const { req, res, reqId, pid, hostname } = entry;
    const key = `${who}\0${String(hostname)}\0${String(pid)}\0${String(reqId)}`;
    const request = toRequest(entry);
    const isFinished = typeof entry['responseTime'] === 'number' || res !== undefined;
    if (!isFinished) {
      if (request === undefined || reqId === undefined) return 'other';
      if (this.#pending.size < maxPending) this.#pending.set(key, request);
      return 'other';
    }
    const begun = request ?? this.#pending.get(key);
    if (reqId !== undefined) this.#pending.delete(key);
    if (begun === undefined) {
      if (req !== undefined) return 'unreadable';
      if (reqId !== undefined && typeof entry['responseTime'] === 'number') this.withoutBegin++;
      return 'other';
    }
    const status = res?.statusCode ?? entry['statusCode'];
    const durationMs = tookIn(entry as Fields, reqResFormat.took);
    const finished = {
      ...begun,
      ...(typeof status === 'number' ? { status } : {}),
      ...(durationMs === undefined ? {} : { durationMs }),
    };
    return this.#count(finished, reqResFormat, line);
  }

  #count(
    request: LoggedRequest,
    { name, duration }: { name: string; duration?: string },
    line: string,
  ): LoggedRequest {
    let met = this.#met.get(name);
    if (met === undefined) {
      met = { name, requests: 0, ...(duration !== undefined && { duration }) };
      this.#met.set(name, met);
    }
    met.requests++;
    if (request.durationMs === undefined) met.untimedSample ??= line.slice(0, 400);
    return request;
  }
}

const words = { name: 'words of a logger', duration: 'the last time that has its unit' };

interface PinoEntry extends Fields {
  time?: number | string;
  req?: { method?: unknown; url?: unknown };
  res?: { statusCode?: number };
  reqId?: unknown;
  pid?: unknown;
  hostname?: unknown;
  log?: unknown;
  stream?: unknown;
}

function toRequest({ req, time }: PinoEntry): LoggedRequest | undefined {
  if (typeof req?.method !== 'string' || typeof req.url !== 'string') return undefined;
  const at = typeof time === 'string' ? timeOf(time) : time;
  return { method: req.method, path: pathOf(req.url), ...(at === undefined ? {} : { time: at }) };
}
