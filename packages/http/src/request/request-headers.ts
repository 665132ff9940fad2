import type { HeaderBlock } from '../native/index.ts';
import { http } from '../node/node-http.ts';
import type { IncomingInternals } from '../node/node-internals.ts';
import type { EngineRequest } from '../exchange.ts';

// Node's own rules: which names are joined, with what, and of which the first one stays.
const { _addHeaderLine: addHeaderLine } = http.IncomingMessage
  .prototype as never as IncomingInternals;

/**
 * The headers of a request, lower-cased and joined. The result belongs to the request: what is kept with the block, which
 * other requests share, is copied.
 */
export function headersOf(request: EngineRequest, block: HeaderBlock): object {
  // The engine's table of blocks serves all servers, and what is kept is what most of them make of it.
  if (request.joinDuplicateHeaders) return build(request, block.raw);
  return copy((block.headers ??= build(request, block.raw)));
}

type Headers = Record<string, string | string[]>;

function build(request: EngineRequest, raw: readonly string[]): Headers {
  const headers: Headers = {};
  for (let index = 0; index < raw.length; index += 2) {
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
