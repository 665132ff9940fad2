import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { withoutRejection } from './callback-fault.ts';
import type { ResolvedOptions } from './options.ts';

/** Long enough for a UUID, a trace id or a ULID with a prefix; short enough for every line. */
const MAX_CHARACTERS = 128;

/** No spaces, quotes, commas or control characters: an id goes into lines and headers unchanged. */
const SAFE = /^[\w.:/+=@~-]+$/;

/** Returns true if an id from outside may be used. */
export function isSafeId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_CHARACTERS && SAFE.test(id);
}

/**
 * Creates ids that no other process, and no earlier run of this one, has used: 48 random bits and a
 * counter. The counter's upper part is turned into a string once in a thousand ids.
 */
export function createIdGenerator(): () => string {
  const prefix = `${randomBytes(6).toString('base64url')}-`;
  let block = 0;
  let head = prefix;
  let next = 0;
  return () => {
    if (next === 1000) {
      next = 0;
      block += 1;
      head = prefix + block.toString(36);
    }
    return head + thousandths[next++];
  };
}

/** Returns Fastify's `genReqId`: the id in the header if it is safe, otherwise a generated one. */
export function createRequestIds({
  header,
  generate,
  make,
}: ResolvedOptions['requestId']): (request: IncomingMessage) => string {
  if (make !== undefined) return make;
  const own = createIdGenerator();
  const fresh =
    generate === undefined
      ? own
      : () => {
          const id = withoutRejection(generate());
          return isSafeId(id) ? id : own();
        };
  if (header === undefined) return fresh;
  return (request) => {
    const id = request.headers[header];
    return id !== undefined && isSafeId(id) ? id : fresh();
  };
}

/** "000" to "999": digits without formatting a number, which costs several times the lookup. */
export const thousandths: readonly string[] = Array.from({ length: 1000 }, (_, n) =>
  String(n).padStart(3, '0'),
);
