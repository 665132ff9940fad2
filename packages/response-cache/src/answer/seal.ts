import { Answer, type AnswerFacts } from './answer.ts';

/*
 * JSON allows white space at its end, so any other reader of the store still parses a sealed value.
 * Not a line feed alone: `redis-cli -x set` and most editors end whatever they write with one.
 */
const mark = '\t\r\t';
/* After the facts, the head and their length: `{"id":7}\n[1763812800000,5000,12,[],[],"x1"]\n{"status":203}\n14\r\t\r`. */
const factsMark = '\r\t\r';

/** Marks an answer as written by this cache, to its last character. No two with facts end alike. */
export function seal(answer: string | Answer): string {
  if (typeof answer === 'string') return answer + mark;
  const { json, head, madeAt, freshMs, costMs, tags, versions } = answer;
  const facts = JSON.stringify([madeAt, freshMs, costMs, tags, versions]);
  const details = `${facts}\n${head}`;
  return `${json}\n${details}\n${nonce()}.${details.length.toString(36)}${factsMark}`;
}

/**
 * The answer in a stored value; undefined when it holds none.
 * The seal spares a hit the parse. A value without it was written by someone else or cut short, and is parsed to be sure.
 */
export function unseal(raw: string): string | Answer | undefined {
  if (raw.endsWith(mark)) return raw.slice(0, -mark.length);
  if (raw.endsWith(factsMark)) return unsealFacts(raw);
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return undefined;
  }
}

function unsealFacts(raw: string): Answer | undefined {
  const end = raw.lastIndexOf('\n');
  const length = Number.parseInt(raw.slice(raw.indexOf('.', end) + 1, -factsMark.length), 36);
  const start = end - length;
  if (!(start > 0)) return undefined;
  const factsEnd = raw.indexOf('\n', start);
  const facts = toFacts(raw.slice(start, factsEnd), raw.slice(factsEnd + 1, end));
  return facts && new Answer(raw.slice(0, start - 1), facts, 'fresh', raw.slice(end));
}

function toFacts(line: string, head: string): AnswerFacts | undefined {
  try {
    const [madeAt, freshMs, costMs, tags, versions] = JSON.parse(line);
    return { head, madeAt, freshMs, costMs, tags, versions };
  } catch {
    return undefined;
  }
}

function nonce(): string {
  return Math.floor(Math.random() * 36 ** 8).toString(36);
}
