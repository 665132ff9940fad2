import { CacheError } from '../errors.ts';

/**
 * Returns the JSON of a producer's result.
 * @throws {CacheError} ERR_REDLINE_CACHE_NOT_JSON
 */
export function toJson(
  value: unknown,
  name: string,
  serialize: (value: unknown) => string | undefined,
): string {
  const kind = kindThatIsNotJson(value);
  if (kind !== undefined) throw notJson(name, `the producer returned ${kind}`);
  let json: string | undefined;
  try {
    json = serialize(value);
  } catch (error) {
    // A circular structure, a bigint inside, or a toJSON() that throws.
    const reason = error instanceof Error ? error.message : String(error);
    throw notJson(name, `what the producer returned does not serialise: ${reason}`, error);
  }
  if (typeof json !== 'string')
    throw notJson(name, 'what the producer returned serialises to nothing');
  return json;
}

function notJson(name: string, what: string, cause?: unknown): CacheError {
  return new CacheError(
    'ERR_REDLINE_CACHE_NOT_JSON',
    `The response of ${name} cannot be cached as JSON: ${what}. Return an object, an array, a number, a boolean or null, or do not cache it.`,
    cause === undefined ? undefined : { cause },
  );
}

/** Names the kind of a value that cannot be cached as JSON; undefined for any other value. */
export function kindThatIsNotJson(value: unknown): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'string':
      return 'a string';
    case 'bigint':
      return 'a bigint';
    case 'symbol':
      return 'a symbol';
    case 'function':
      return 'a function';
    case 'object':
      return value === null ? undefined : kindOfObject(value);
    default:
      return undefined;
  }
}

function kindOfObject(value: object): string | undefined {
  if (Buffer.isBuffer(value)) return 'a Buffer';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `a ${value.constructor.name}`;
  // Recognised by shape: streams come from several libraries, and StreamableFile and Response from several copies of one.
  const streams = ['pipe', 'getReader', 'getStream', 'arrayBuffer', Symbol.asyncIterator] as const;
  const isStream = streams.some(
    (name) => typeof (value as Record<PropertyKey, unknown>)[name] === 'function',
  );
  return isStream ? `a stream (${value.constructor?.name ?? 'unnamed'})` : undefined;
}
