import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderBlock } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import type { IncomingInternals } from '../node/node-internals.ts';
import type { EngineRequest } from '../exchange.ts';
import { fromLayout, keepLayout } from './header-layouts.ts';

// Node's own method, which knows the names that are joined, the separators, and the names that keep the first value.
const { _addHeaderLine: addHeaderLine } = http.IncomingMessage
  .prototype as never as IncomingInternals;

/** Lower-case names by their spelling. Clients use few; a limit ensures it. */
const lowerNames = new Map<string, string>();
const NAMES_LIMIT = 1_000;
/** A longer name is unlikely to repeat. */
const KEPT_NAME = 64;

/**
 * Returns the headers of a request, lower-cased and joined. The object belongs to the request: headers cached on a block
 * that other requests share are copied.
 */
export function headersOf(request: EngineRequest, block: HeaderBlock): object {
  // The engine's table of blocks serves all servers, so the cached headers use the default rule of most servers.
  if (request.joinDuplicateHeaders) return build(request, block.raw);
  if (!block.isKept) return fromLayout(block.raw) ?? buildAndKeep(request, block.raw);
  return copy((block.headers ??= build(request, block.raw)));
}

type Headers = Record<string, string | string[]>;

/** The only header whose value is always a list. */
const LIST = 'set-cookie';

function buildAndKeep(request: EngineRequest, raw: readonly string[]): Headers {
  const headers = build(request, raw);
  keepLayout(raw, headers);
  return headers;
}

function build(request: EngineRequest, raw: readonly string[]): Headers {
  const headers: Headers = {};
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index]!;
    const lower = lowerNames.get(name) ?? learn(name);
    // The first value of a name is kept unchanged, whatever Node does with a second one.
    if (lower !== LIST && headers[lower] === undefined) headers[lower] = raw[index + 1]!;
    else addHeaderLine.call(request as never, name, raw[index + 1]!, headers);
  }
  return headers;
}

function learn(name: string): string {
  if (name.length > KEPT_NAME || lowerNames.size >= NAMES_LIMIT) return name.toLowerCase();
  // Copied, because a string sliced out of a block keeps the whole block alive.
  const own = Buffer.from(name, 'latin1').toString('latin1');
  const lower = own.toLowerCase();
  lowerNames.set(own, lower);
  return lower;
}

function copy(headers: Headers): Headers {
  const made = { ...headers };
  const cookies = made['set-cookie'];
  if (cookies !== undefined) made['set-cookie'] = (cookies as string[]).slice();
  return made;
}

/** Returns true if a body is announced, even an empty one. */
export function announcesBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers;
}
