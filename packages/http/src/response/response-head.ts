import { invalidArgument, nodeError } from '../errors.ts';
import { http } from '../node/node-http.ts';
import { kOutHeaders } from '../node/node-internals.ts';
import type { EngineResponse } from '../exchange.ts';
import { kConnection, kIsAscii } from '../node/message-state.ts';
import {
  CONNECTION,
  CONTENT_DISPOSITION,
  CONTENT_LENGTH,
  COOKIE,
  DATE,
  EXPECT,
  headerOf,
  KEEP_ALIVE,
  KEPT_VALUE,
  NOT_PLAIN_ASCII,
  PLAIN,
  TRAILER,
  TRANSFER_ENCODING,
  type Known,
} from './header-names.ts';
import { callLater, Date } from '../node/clocks.ts';
import { lookForHttpObserver } from '../node/performance-entries.ts';

// Matches Node's `_storeHeader`, line by line, in what it sends, throws and sets, with two differences: a header name is
// examined once per process, and an unchanged line is reused.

const NOT_LATIN1 = /[^\0-\xff]/;
const CLOSE = /(?:^|\W)close(?:$|\W)/i;
const CHUNKED = /(?:^|\W)chunked(?:$|\W)/i;

type Value = unknown;

// Heads are built one at a time, so intermediate results live in module variables.
let lines = '';
let plainMessage = '';
let keepAliveMs = -1;
let keepAliveLines = '';
let isAscii = true;
let hasConnection = false;
let hasLength = false;
let hasEncoding = false;
let hasDate = false;
let hasExpect = false;
let hasTrailer = false;

/** Renders the head of a response into `_header`, and decides the framing of its body. */
export function storeHeader(response: EngineResponse, firstLine: string, headers: unknown): void {
  lines = firstLine;
  if (response.statusMessage === plainMessage) {
    isAscii = true;
  } else {
    isAscii = !NOT_PLAIN_ASCII.test(response.statusMessage);
    if (isAscii) plainMessage = response.statusMessage;
  }
  hasConnection = hasLength = hasEncoding = hasDate = hasExpect = hasTrailer = false;

  if (headers) {
    if (headers === response[kOutHeaders]) {
      const stored = headers as Record<string, [string, Value]>;
      // eslint-disable-next-line guard-for-in -- without a prototype
      for (const key in stored) {
        const entry = stored[key]!;
        add(response, entry[0], entry[1], false);
      }
    } else if (Array.isArray(headers)) {
      addArray(response, headers);
    } else {
      for (const key in headers as object) {
        if (Object.hasOwn(headers as object, key)) {
          add(response, key, (headers as Record<string, Value>)[key], true);
        }
      }
    }
  }

  if (response.sendDate && !hasDate) lines += dateLine();
  if (response.chunkedEncoding && (response.statusCode === 204 || response.statusCode === 304)) {
    response.chunkedEncoding = false;
    response.shouldKeepAlive = false;
  }
  addConnection(response);
  addFraming(response);
  if (!response.chunkedEncoding && hasTrailer) {
    throw nodeError('ERR_HTTP_TRAILER_INVALID', 'Trailers are invalid with this transfer encoding');
  }

  // Node decodes a Content-Disposition; in latin1, the low byte of some characters would be a line end.
  if (!isAscii && NOT_LATIN1.test(lines)) {
    lines = Buffer.from(lines).toString('latin1');
    isAscii = true;
  }
  response._header = `${lines}\r\n`;
  response._headerSent = false;
  response[kIsAscii] = isAscii;
  if (hasExpect) response._send('');
}

function addConnection(response: EngineResponse): void {
  if (response._removedConnection) {
    response._last = !response.shouldKeepAlive;
    return;
  }
  if (hasConnection) return;
  const keepsAlive =
    response.shouldKeepAlive &&
    (hasLength || response.useChunkedEncodingByDefault) &&
    !response[kConnection].server.isEnding;
  if (keepsAlive && response.maxRequestsOnConnectionReached) {
    lines += 'Connection: close\r\n';
  } else if (keepsAlive) {
    const timeout = response._keepAliveTimeout;
    if (!timeout || !response._defaultKeepAlive) {
      lines += 'Connection: keep-alive\r\n';
    } else if (~~response._maxRequestsPerSocket > 0) {
      lines += keepAlive(timeout, `, max=${response._maxRequestsPerSocket}`);
    } else {
      if (timeout !== keepAliveMs) {
        keepAliveMs = timeout;
        keepAliveLines = keepAlive(timeout, '');
      }
      lines += keepAliveLines;
    }
  } else {
    response._last = true;
    lines += 'Connection: close\r\n';
  }
}

function keepAlive(timeoutMs: number, limit: string): string {
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(timeoutMs / 1000)}${limit}\r\n`;
}

function addFraming(response: EngineResponse): void {
  if (hasLength || hasEncoding) return;
  if (!response._hasBody) {
    response.chunkedEncoding = false;
  } else if (!response.useChunkedEncodingByDefault) {
    response._last = true;
  } else if (
    !hasTrailer &&
    !response._removedContLen &&
    typeof response._contentLength === 'number'
  ) {
    lines += `Content-Length: ${response._contentLength}\r\n`;
  } else if (!response._removedTE) {
    lines += 'Transfer-Encoding: chunked\r\n';
    response.chunkedEncoding = true;
  } else {
    // Without length and encoding, the body ends with the connection.
    response._last = true;
  }
}

function addArray(response: EngineResponse, headers: unknown[]): void {
  if (Array.isArray(headers[0])) {
    for (const [key, value] of headers as [string, Value][]) add(response, key, value, true);
    return;
  }
  if (headers.length % 2 !== 0) throw invalidArgument('headers', headers);
  for (let index = 0; index < headers.length; index += 2) {
    add(response, headers[index] as string, headers[index + 1], true);
  }
}

function add(response: EngineResponse, name: string, value: Value, isUnchecked: boolean): void {
  const header = headerOf(name);
  const { kind } = header;
  if (kind === CONTENT_DISPOSITION && response._contentLength) {
    // RFC 6266, 4.3
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) {
        value[index] = Buffer.from(value[index] as string, 'latin1');
      }
    } else {
      value = Buffer.from(value as string, 'latin1');
    }
  }
  if (Array.isArray(value)) {
    const isJoined =
      (kind === COOKIE && value.length > 1) ||
      response[kConnection].server.uniqueHeaders?.[1].has(name.toLowerCase()) === true;
    if (!isJoined) {
      for (const one of value) addLine(response, header, name, one, isUnchecked);
      return;
    }
    value = value.join('; ');
  }
  addLine(response, header, name, value, isUnchecked);
}

function addLine(
  response: EngineResponse,
  header: Known,
  name: string,
  value: Value,
  isUnchecked: boolean,
): void {
  if (value === header.value) {
    lines += header.line;
  } else if (typeof value === 'string' && !NOT_PLAIN_ASCII.test(value)) {
    const line = `${name}: ${value}\r\n`;
    if (value.length <= KEPT_VALUE) {
      header.value = value;
      header.line = line;
    }
    lines += line;
  } else if (typeof value === 'number') {
    lines += `${name}: ${value}\r\n`;
  } else {
    if (isUnchecked) http.validateHeaderValue(name, value as string);
    const text = `${value as string}`;
    if (NOT_PLAIN_ASCII.test(text)) isAscii = false;
    lines += `${name}: ${text}\r\n`;
  }
  if (header.kind !== PLAIN) note(response, header.kind, value as string);
}

function note(response: EngineResponse, kind: number, value: string): void {
  switch (kind) {
    case CONNECTION:
      hasConnection = true;
      response._removedConnection = false;
      if (CLOSE.test(value)) response._last = true;
      else response.shouldKeepAlive = true;
      break;
    case TRANSFER_ENCODING:
      hasEncoding = true;
      response._removedTE = false;
      if (CHUNKED.test(value)) response.chunkedEncoding = true;
      break;
    case CONTENT_LENGTH:
      hasLength = true;
      response._contentLength = +value;
      response._removedContLen = false;
      break;
    case DATE:
      hasDate = true;
      break;
    case EXPECT:
      hasExpect = true;
      break;
    case TRAILER:
      hasTrailer = true;
      break;
    case KEEP_ALIVE:
      response._defaultKeepAlive = false;
      break;
    default:
  }
}

let line: string | undefined;

/** Returns the line of the `Date` header, rebuilt at most once a second. */
export function dateLine(): string {
  return (line ??= renew());
}

function renew(): string {
  lookForHttpObserver();
  const now = new Date();
  callLater(forget, 1000 - now.getMilliseconds());
  return `Date: ${now.toUTCString()}\r\n`;
}

function forget(): void {
  line = undefined;
}
