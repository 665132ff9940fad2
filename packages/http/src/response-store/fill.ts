import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHead } from '../request/request-head.ts';
import type { StoredHeaders, StoredResponse } from './stored-response.ts';
import { routeOf } from '../exchange-observer.ts';
import { credentials, type Fill } from '../native/index.ts';
import { ENCODING, IDENTITY, OUTCOME } from '../native/wire.ts';
import { http } from '../node/node-http.ts';

/** Headers that the engine writes itself: a second line could contradict it. */
const ENGINE_HEADERS = new Set([
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'trailer',
  'upgrade',
]);

/** Headers omitted from a 304, as in Express and Fastify's ETag plugin. */
const BODY_HEADERS = new Set(['content-type', 'content-length']);

/** Valid request targets. */
const TARGET = /^[\x21-\x7e]+$/;
/** The engine's rule, in `authority.rs`: responses are neither stored for nor sent to requests with an invalid host. */
const HOST = /^(?:[\w.~-]+|\[[\da-f:.]+\])(?::\d+)?$/i;
const NEVER_STORED = new Set([204, 206, 304]);
const UNSHARED = /(?:^|[\s,])(?:private|no-store)(?:$|[\s,=])/i;
const NOT_PLAIN_ASCII = /[^\t\x20-\x7e]/;

/**
 * Returns a response in the engine's form, or the outcome if it cannot be stored.
 *
 * @throws TypeError or RangeError for values that no response can have, see `ResponseStore`.
 */
export function toFill(
  request: string | RequestHead,
  response: StoredResponse,
  isOffer: boolean,
): Fill | number {
  const status = statusOf(response);
  const given = typeof request === 'string' ? { url: request, headers: {} } : request;
  if (!TARGET.test(given.url ?? '')) {
    throw new TypeError(`${given.url} cannot be the target of a request; encode it as in a URL`);
  }
  const freshMs = durationOf('freshMs', response.freshMs);
  const staleMs =
    response.staleMs === undefined ? 0 : durationOf('staleMs', response.staleMs, true);
  if ((given.method ?? 'GET') !== 'GET') return OUTCOME.METHOD;
  if (NEVER_STORED.has(status)) return OUTCOME.STATUS;
  const { host } = given.headers;
  if (host !== undefined && !HOST.test(host)) return OUTCOME.HOST;
  const body = typeof response.body === 'string' ? Buffer.from(response.body) : response.body;
  const { identify } = response;
  const vary = (response.vary ?? []).map((name) => name.toLowerCase());
  if (typeof identify === 'object' && 'header' in identify)
    vary.push(identify.header.toLowerCase());
  const head = new Head(body.byteLength, vary, isOffer);
  for (const [name, value] of pairsOf(response.headers)) head.add(name, value);
  if (head.refusal !== undefined) return head.refusal;

  const names =
    typeof request === 'string' ? withoutRequest(response) : selectorsOf(given, response);
  if (typeof names === 'number') return names;
  const length = head.hasLength ? '' : `Content-Length: ${body.byteLength}\r\n`;
  return {
    target: given.url!,
    ...names,
    status,
    encodings: encodingsOf(response),
    head: `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'unknown'}\r\n${head.lines}${isOffer ? '' : length}`,
    // node:http writes Content-Length here.
    tail: isOffer ? length : '',
    notModified: head.etag === '' ? '' : notModifiedOf(response),
    etag: head.etag,
    hasLastModified: head.hasLastModified,
    body,
    freshMs,
    staleMs,
    tags: [...(response.tags ?? [])],
    isOffer,
    line: response.line ?? 0,
    route: response.from === undefined ? 0 : routeOf(response.from),
  };
}

const ENCODINGS = new Map([
  ['br', ENCODING.BR],
  ['zstd', ENCODING.ZSTD],
  ['gzip', ENCODING.GZIP],
]);

/** The first coding occupies the lowest bits. */
function encodingsOf({ encodings = [] }: StoredResponse): number {
  return [...new Set(encodings)].reduceRight((list, name) => {
    const encoding = ENCODINGS.get(name);
    if (encoding === undefined)
      throw new TypeError(`${name} cannot be one of encodings; br, zstd and gzip can`);
    return (list << ENCODING.BITS) | encoding;
  }, 0);
}

function statusOf({ status = 200 }: StoredResponse): number {
  if (Number.isInteger(status) && status >= 200 && status <= 999) return status;
  throw new RangeError(
    `A stored response cannot have the status ${status}; it must be from 200 to 999`,
  );
}

function durationOf(name: string, ms: number, mayBeNone = false): number {
  if (Number.isFinite(ms) && (ms > 0 || (mayBeNone && ms === 0))) return Math.ceil(ms);
  throw new RangeError(`${name} is ${ms}; it must be a number of ms above 0`);
}

function* pairsOf(headers: StoredHeaders | undefined): Iterable<[string, string]> {
  if (headers === undefined) return;
  const entries = Array.isArray(headers) ? headers : Object.entries(headers);
  for (const [name, value] of entries as [string, number | string | readonly string[]][]) {
    http.validateHeaderName(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      http.validateHeaderValue(name, one);
      yield [name, `${one}`];
    }
  }
}

/** Collects the headers of a response, and why they forbid storing it. */
class Head {
  lines = '';
  etag = '';
  hasLength = false;
  hasLastModified = false;
  refusal: number | undefined;
  readonly #length: number;
  readonly #vary: readonly string[];
  readonly #isOffer: boolean;

  constructor(length: number, vary: readonly string[], isOffer: boolean) {
    this.#length = length;
    this.#vary = vary;
    this.#isOffer = isOffer;
  }

  add(name: string, value: string): void {
    this.lines += `${name}: ${value}\r\n`;
    const known = name.toLowerCase();
    if (ENGINE_HEADERS.has(known)) {
      if (!this.#isOffer)
        throw new TypeError(`The engine writes ${name} of a stored response itself`);
      this.refusal ??= OUTCOME.HEADERS;
    } else {
      this.refusal ??= this.#refusalOf(known, value);
    }
  }

  #refusalOf(known: string, value: string): number | undefined {
    // Node picks one of two encodings for such a head, depending on the body.
    if (this.#isOffer && NOT_PLAIN_ASCII.test(value)) return OUTCOME.HEADERS;
    switch (known) {
      case 'content-length':
        if (this.hasLength || value !== `${this.#length}`) return OUTCOME.HEADERS;
        this.hasLength = true;
        return undefined;
      case 'set-cookie':
        return OUTCOME.SET_COOKIE;
      case 'cache-control':
        // `keep` is an explicit decision of the caller; the directive still applies downstream.
        return this.#isOffer && UNSHARED.test(value) ? OUTCOME.CACHE_CONTROL : undefined;
      case 'vary':
        return value.split(',').every((name) => this.#vary.includes(name.trim().toLowerCase()))
          ? undefined
          : OUTCOME.VARY;
      case 'etag':
        this.etag = value;
        return undefined;
      case 'last-modified':
        this.hasLastModified = true;
        return undefined;
      default:
        return undefined;
    }
  }
}

function notModifiedOf({ headers, notModified }: StoredResponse): string {
  let lines = `HTTP/1.1 304 ${http.STATUS_CODES[304]}\r\n`;
  for (const [name, value] of pairsOf(notModified ?? headers)) {
    const known = name.toLowerCase();
    if (ENGINE_HEADERS.has(known))
      throw new TypeError(`The engine writes ${name} of a stored response itself`);
    if (!BODY_HEADERS.has(known)) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

type Selectors = Pick<Fill, 'identity' | 'names' | 'values'>;

function withoutRequest({ identify, vary = [], cookies }: StoredResponse): Selectors {
  if (typeof identify === 'object' || vary.length > 0) {
    throw new TypeError(
      'A stored response with vary or with a name in identify needs the request, not only a target',
    );
  }
  return { identity: identityOf(identify, cookies), names: [], values: [] };
}

function selectorsOf({ headers }: RequestHead, response: StoredResponse): Selectors | number {
  const { identify, cookies } = response;
  const names: string[] = [];
  const values: (string | undefined)[] = [];
  if (typeof identify === 'object') {
    const isCookie = 'cookie' in identify;
    const name = isCookie ? identify.cookie : identify.header.toLowerCase();
    const value = isCookie ? cookieOf(headers, name) : headers[name];
    if (typeof value !== 'string' || value === '') return OUTCOME.CREDENTIALS;
    names.push(name);
    values.push(value);
  } else if (identify === undefined && hasCredentials(headers, cookies)) {
    return OUTCOME.CREDENTIALS;
  }
  // A cookie can have the same name as a header.
  const isVaried = new Set(typeof identify === 'object' && 'header' in identify ? names : []);
  for (const name of response.vary ?? []) {
    const known = name.toLowerCase();
    if (isVaried.has(known)) continue;
    isVaried.add(known);
    http.validateHeaderName(known);
    const value = headers[known];
    if (Array.isArray(value)) return OUTCOME.VARY;
    names.push(known);
    values.push(value);
  }
  return { identity: identityOf(identify, cookies), names, values: values as string[] };
}

function identityOf(
  identify: StoredResponse['identify'],
  cookies: StoredResponse['cookies'],
): number {
  if (typeof identify === 'object') return 'cookie' in identify ? IDENTITY.COOKIE : IDENTITY.HEADER;
  if (identify === 'public') return IDENTITY.PUBLIC;
  return cookies === 'ignore' ? IDENTITY.ANY_COOKIES : IDENTITY.ANONYMOUS;
}

/** Uses the engine's own lists of credentials. */
function hasCredentials(headers: IncomingHttpHeaders, cookies: StoredResponse['cookies']): boolean {
  const known = credentials();
  const isAnalytics = (pair: string): boolean =>
    known.analyticsCookies.some((name) => pair.trim().startsWith(name));
  const { cookie } = headers;
  if (cookies !== 'ignore' && cookie !== undefined && !cookie.split(';').every(isAnalytics)) {
    return true;
  }
  return known.headers.some((name) => headers[name] !== undefined);
}

/** Reads like the engine: the raw value of a name that occurs once. */
function cookieOf({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  let found: string | undefined;
  for (const pair of cookie.split(';')) {
    const at = pair.indexOf('=');
    if (at === -1 || pair.slice(0, at).trim() !== name) continue;
    if (found !== undefined) return undefined;
    found = pair.slice(at + 1).trim();
  }
  return found;
}
