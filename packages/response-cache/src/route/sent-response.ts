import type { OutgoingHttpHeader, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { overrideMethods } from './override-methods.ts';

/** A response as it was sent, without the headers of its connection. */
export interface SentResponse {
  readonly status: number;
  /** In the order and the spelling in which they were sent. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Uint8Array;
}

type HeadersGiven = OutgoingHttpHeaders | readonly OutgoingHttpHeader[] | undefined;

/**
 * Calls `onSent` with the response once it is sent; with undefined if it is sent in pieces. Replaces methods of the
 * response until then, because only they see the result of hooks and middleware.
 */
export function watchSent(
  response: ServerResponse,
  onSent: (sent: SentResponse | undefined) => void,
): void {
  const { writeHead, write, end } = response;
  let given: HeadersGiven;
  const restore = overrideMethods(response, {
    writeHead(this: ServerResponse, ...args: unknown[]): unknown {
      given = args.find((arg) => typeof arg === 'object' && arg !== null) as HeadersGiven;
      restore('writeHead');
      return Reflect.apply(writeHead, this, args);
    },
    write(this: ServerResponse, ...args: unknown[]): unknown {
      restore('writeHead', 'write', 'end');
      onSent(undefined);
      return Reflect.apply(write, this, args);
    },
    end(this: ServerResponse, ...args: unknown[]): unknown {
      const [first, encoding] = args;
      const isEmpty = first === undefined || first === null || typeof first === 'function';
      const body = isEmpty ? '' : first;
      const isText = typeof body === 'string' && (encoding ?? 'utf8') === 'utf8';
      restore('write', 'end');
      const ended: unknown = Reflect.apply(end, this, args);
      restore('writeHead');
      // Middleware may have set headers in `writeHead`, which `end` calls.
      const headers = headersOf(response, given);
      const status = response.statusCode;
      if (isText || body instanceof Uint8Array) onSent({ status, headers, body });
      return ended;
    },
  });
}

/* Merges the headers that were set with those passed to `writeHead`, as Node does. */
function headersOf(response: ServerResponse, given: HeadersGiven): [string, string][] {
  const lines = new Map<string, [string, OutgoingHttpHeader]>();
  for (const name of spelledNamesOf(response))
    lines.set(name.toLowerCase(), [name, response.getHeader(name)!]);
  for (const [name, value] of pairsOf(given)) lines.set(name.toLowerCase(), [name, value]);
  return [...lines.values()].flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((each): [string, string] => [name, String(each)]),
  );
}

function pairsOf(given: HeadersGiven): [string, OutgoingHttpHeader][] {
  if (given === undefined) return [];
  if (!Array.isArray(given))
    return Object.entries(given as OutgoingHttpHeaders).filter(
      (pair): pair is [string, OutgoingHttpHeader] => pair[1] !== undefined,
    );
  const flat = given.flat() as string[];
  return flat.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, flat[index + 1]!]] : [],
  );
}

function spelledNamesOf(response: ServerResponse): string[] {
  const { getRawHeaderNames } = response as { getRawHeaderNames?(): string[] };
  return getRawHeaderNames?.call(response) ?? response.getHeaderNames();
}
