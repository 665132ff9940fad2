/*
 * JSON allows white space at its end, so any other reader of the store still parses a sealed value.
 * Not a line feed alone: `redis-cli -x set` and most editors end whatever they write with one.
 */
const mark = '\t\r\t';

/** Marks JSON as written by this cache, to its last character. */
export function seal(json: string): string {
  return json + mark;
}

/**
 * The JSON in a stored value; undefined when it holds none.
 * The seal spares a hit the parse. A value without it was written by someone else or cut short, and is parsed to be sure.
 */
export function unseal(raw: string): string | undefined {
  if (raw.endsWith(mark)) return raw.slice(0, -mark.length);
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return undefined;
  }
}
