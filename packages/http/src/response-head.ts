import http from 'node:http';
import { invalidArgument, nodeError } from './errors.ts';
import { httpDate } from './http-date.ts';
import { kOutHeaders } from './node-internals.ts';
import type { EngineResponse } from './response.ts';
import { kConnection, kIsAscii } from './response-state.ts';

// Node's `_storeHeader`, line by line in what it sends, throws and sets; what differs is that a header name is looked
// at once in the life of the process, and a value that is plain text is tested once.

const PLAIN = 0;
const CONNECTION = 1;
const TRANSFER_ENCODING = 2;
const CONTENT_LENGTH = 3;
const DATE = 4;
const EXPECT = 5;
const TRAILER = 6;
const KEEP_ALIVE = 7;
const CONTENT_DISPOSITION = 8;
const COOKIE = 9;

const SPECIAL = new Map([
  ['connection', CONNECTION],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['content-length', CONTENT_LENGTH],
  ['date', DATE],
  ['expect', EXPECT],
  ['trailer', TRAILER],
  ['keep-alive', KEEP_ALIVE],
  ['content-disposition', CONTENT_DISPOSITION],
  ['cookie', COOKIE],
]);

/** Valid names and what they mean, by their spelling. An application has few; a limit keeps it so. */
const known = new Map<string, number>();
const KNOWN_LIMIT = 1000;

const NOT_PLAIN_ASCII = /[^\t\x20-\x7e]/;
const CLOSE = /(?:^|\W)close(?:$|\W)/i;
const CHUNKED = /(?:^|\W)chunked(?:$|\W)/i;

type Value = unknown;

// One at a time is built, so what is found on the way needs no object of its own.
let lines = '';
let isAscii = true;
let hasConnection = false;
let hasLength = false;
let hasEncoding = false;
let hasDate = false;
let hasExpect = false;
let hasTrailer = false;

/** Renders the head of a response into `_header`, and settles how its body is framed. */
export function storeHeader(response: EngineResponse, firstLine: string, headers: unknown): void {
  lines = firstLine;
  isAscii = !NOT_PLAIN_ASCII.test(response.statusMessage);
  hasConnection = hasLength = hasEncoding = hasDate = hasExpect = hasTrailer = false;

  if (headers) {
    if (headers === response[kOutHeaders]) {
      const stored = headers as Record<string, [string, Value]>;
      // eslint-disable-next-line guard-for-in -- without a prototype
      for (const key in stored) add(response, stored[key]![0], stored[key]![1], false);
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

  if (response.sendDate && !hasDate) lines += `Date: ${httpDate()}\r\n`;
  if (response.chunkedEncoding && (response.statusCode === 204 || response.statusCode === 304)) {
    response.chunkedEncoding = false;
    response.shouldKeepAlive = false;
  }
  addConnection(response);
  addFraming(response);
  if (!response.chunkedEncoding && hasTrailer) {
    throw nodeError('ERR_HTTP_TRAILER_INVALID', 'Trailers are invalid with this transfer encoding');
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
    response.shouldKeepAlive && (hasLength || response.useChunkedEncodingByDefault);
  if (keepsAlive && response.maxRequestsOnConnectionReached) {
    lines += 'Connection: close\r\n';
  } else if (keepsAlive) {
    lines += 'Connection: keep-alive\r\n';
    if (response._keepAliveTimeout && response._defaultKeepAlive) {
      const max = ~~response._maxRequestsPerSocket;
      const limit = max > 0 ? `, max=${response._maxRequestsPerSocket}` : '';
      lines += `Keep-Alive: timeout=${Math.floor(response._keepAliveTimeout / 1000)}${limit}\r\n`;
    }
  } else {
    response._last = true;
    lines += 'Connection: close\r\n';
  }
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
    // Neither length nor encoding: the body ends with the connection.
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
  const kind = known.get(name) ?? learn(name);
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
      for (const one of value) addLine(response, kind, name, one, isUnchecked);
      return;
    }
    value = value.join('; ');
  }
  addLine(response, kind, name, value, isUnchecked);
}

function addLine(
  response: EngineResponse,
  kind: number,
  name: string,
  value: Value,
  isUnchecked: boolean,
): void {
  if (typeof value !== 'string' || NOT_PLAIN_ASCII.test(value)) {
    if (isUnchecked) http.validateHeaderValue(name, value as string);
    value = `${value as string}`;
    if (NOT_PLAIN_ASCII.test(value as string)) isAscii = false;
  }
  lines += `${name}: ${value as string}\r\n`;
  if (kind !== PLAIN) note(response, kind, value as string);
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
      response._contentLength = Number(value);
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

function learn(name: string): number {
  http.validateHeaderName(name);
  const kind = SPECIAL.get(name.toLowerCase()) ?? PLAIN;
  if (known.size < KNOWN_LIMIT) known.set(name, kind);
  return kind;
}
