import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderBlock } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import type { IncomingInternals } from '../node/node-internals.ts';
import type { EngineRequest } from '../exchange.ts';
import { fromLayout, keepLayout } from './header-layouts.ts';

// Node's own rules: which names are joined, with what, and of which the first one stays.
const { _addHeaderLine: addHeaderLine } = http.IncomingMessage
  .prototype as never as IncomingInternals;

/** Names in lower case, by their spelling. Clients have few; a limit ensures it. */
const lowerNames = new Map<string, string>();
const NAMES_LIMIT = 1_000;
/** A longer name is hardly one that comes again. */
const KEPT_NAME = 64;

/**
 * The headers of a request, lower-cased and joined. The result belongs to the request: what is kept with the block, which
 * other requests share, is copied.
 */
export function headersOf(request: EngineRequest, block: HeaderBlock): object {
  // The engine's table of blocks serves all servers, and what is kept is what most of them make of it.
  if (request.joinDuplicateHeaders) return build(request, block.raw);
  if (!block.isKept) return fromLayout(block.raw) ?? buildAndKeep(request, block.raw);
  return copy((block.headers ??= build(request, block.raw)));
}

type Headers = Record<string, string | string[]>;

/** The one whose value is a list from the first on. */
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
    // The first value of a name is kept as it is, whatever Node does with a second one.
    if (lower !== LIST && headers[lower] === undefined) headers[lower] = raw[index + 1]!;
    else addHeaderLine.call(request as never, name, raw[index + 1]!, headers);
  }
  return headers;
}

function learn(name: string): string {
  if (name.length > KEPT_NAME || lowerNames.size >= NAMES_LIMIT) return name.toLowerCase();
  // A copy: what was cut out of a block keeps all of it.
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

/** An announced body counts as one, even if it is empty. */
export function announcesBody({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return 'content-length' in headers || 'transfer-encoding' in headers;
}
