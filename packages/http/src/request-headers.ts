import http from 'node:http';
import type { HeaderBlock } from './native/index.ts';
import type { IncomingInternals } from './node-internals.ts';
import type { EngineRequest } from './request.ts';

// Node's own rules: which names are joined, with what, and of which the first one stays.
const { _addHeaderLine: addHeaderLine } = http.IncomingMessage
  .prototype as never as IncomingInternals;

/** Node's limit where `maxHeadersCount` says nothing: names and values together. */
const DEFAULT_LIMIT = 2000;
/** Node's parser hands over so many headers at once, and limits what comes in several pieces. */
const ONE_PIECE = 64;

/**
 * The headers of a request, lower-cased and joined. The result belongs to the request: what is kept with the block, which
 * other requests share, is copied.
 */
export function headersOf(
  request: EngineRequest,
  block: HeaderBlock,
  maxHeadersCount: number | null,
): object {
  const known = block.headers;
  // What is kept is what most servers make of it; the engine's table of blocks serves all of them.
  const isOrdinary =
    maxHeadersCount === null && !request.joinDuplicateHeaders && block.raw.length <= DEFAULT_LIMIT;
  if (!isOrdinary) return build(request, block.raw, limitOf(maxHeadersCount));
  if (known !== undefined) return copy(known);
  const made = build(request, block.raw, DEFAULT_LIMIT);
  block.headers = made;
  return copy(made);
}

/** The same as they came: name, value, name, value, in an array of the request's own. */
export function rawHeadersOf(block: HeaderBlock, maxHeadersCount: number | null): string[] {
  const { raw } = block;
  return raw.length > ONE_PIECE ? raw.slice(0, limitOf(maxHeadersCount)) : raw.slice();
}

type Headers = Record<string, string | string[]>;

function build(request: EngineRequest, raw: readonly string[], limit: number): Headers {
  const headers: Headers = {};
  const count = Math.min(raw.length, limit);
  for (let index = 0; index < count; index += 2) {
    addHeaderLine.call(request as never, raw[index]!, raw[index + 1]!, headers);
  }
  return headers;
}

function copy(headers: Headers): Headers {
  const made = { ...headers };
  const cookies = made['set-cookie'];
  if (cookies !== undefined) made['set-cookie'] = (cookies as string[]).slice();
  return made;
}

function limitOf(maxHeadersCount: number | null): number {
  if (maxHeadersCount === null) return DEFAULT_LIMIT;
  return maxHeadersCount > 0 ? maxHeadersCount * 2 : Infinity;
}
