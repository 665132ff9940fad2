import { Answer } from './answer.ts';

/*
 * JSON allows white space at its end, so any other reader of the store still parses a sealed value.
 * Not a line feed alone: `redis-cli -x set` and most editors end whatever they write with one.
 */
const mark = '\t\r\t';
/* After a head and its length: `{"id":7}\n{"status":203}\ne\r\t\r`. */
const headMark = '\r\t\r';

/** Marks an answer as written by this cache, to its last character. */
export function seal(answer: string | Answer): string {
  if (typeof answer === 'string') return answer + mark;
  const { json, head } = answer;
  return `${json}\n${head}\n${head.length.toString(36)}${headMark}`;
}

/**
 * The answer in a stored value; undefined when it holds none.
 * The seal spares a hit the parse. A value without it was written by someone else or cut short, and is parsed to be sure.
 */
export function unseal(raw: string): string | Answer | undefined {
  if (raw.endsWith(mark)) return raw.slice(0, -mark.length);
  if (raw.endsWith(headMark)) return unsealHead(raw);
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return undefined;
  }
}

function unsealHead(raw: string): Answer | undefined {
  const end = raw.length - headMark.length;
  const headEnd = raw.lastIndexOf('\n', end);
  const headStart = headEnd - Number.parseInt(raw.slice(headEnd + 1, end), 36);
  if (!(headStart > 0)) return undefined;
  return new Answer(raw.slice(0, headStart - 1), raw.slice(headStart, headEnd));
}
