import { Answer, type AnswerFacts } from './answer.ts';

/*
 * Both ends of a value have a mark of this format, so a value cut short at either end lacks one, and its length finds a hole. A
 * later format takes other marks. No checksum: Redis and TCP have theirs, and zlib's crc32 of 2 KB costs about 10 times the rest.
 * JSON allows white space at both ends, so any other reader of the store still parses a sealed text.
 * Not a line feed alone: `redis-cli -x set` and most editors end whatever they write with one.
 */
const mark = '\t\r\t';
/* After the facts, the head and both lengths: `{"id":7}\n[1763812800000,5000,12,[],[],"x1"]\n{"status":203}\nx1.14.8\r\t\r`. */
const factsMark = '\r\t\r';
/* The length in base 4, modulo a prime below 4 ** 6. Twelve digits cost a hit of 2 KB some 30 ns. */
const lengthDigits = 6;
const lengthPrime = 4_093;
const digits = '\t\n\r ';

/** Marks an answer as written by this cache, from its first character to its last. No two with facts end alike. */
export function seal(answer: string | Answer): string {
  if (typeof answer === 'string') return `${mark}${answer}${lengthOf(answer)}${mark}`;
  const { json, head, madeAt, freshMs, costMs, tags, versions } = answer;
  const facts = JSON.stringify([madeAt, freshMs, costMs, tags, versions]);
  const details = `${facts}\n${head}`;
  const lengths = `${details.length.toString(36)}.${json.length.toString(36)}`;
  return `${mark}${json}\n${details}\n${nonce()}.${lengths}${factsMark}`;
}

/**
 * The answer in a stored value; undefined when it holds none, or was damaged.
 * The seal spares a hit the parse. A value without it was written by someone else, and is parsed to be sure.
 */
export function unseal(raw: string): string | Answer | undefined {
  const isOurs = beginsWithMark(raw);
  if (isOurs && raw.endsWith(mark)) return unsealText(raw);
  if (isOurs || raw.endsWith(factsMark)) return isOurs ? unsealFacts(raw) : undefined;
  if (raw.endsWith(mark)) return undefined;
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return undefined;
  }
}

/* Character by character: it runs for each hit. */
function beginsWithMark(raw: string): boolean {
  return raw.charCodeAt(0) === 9 && raw.charCodeAt(1) === 13 && raw.charCodeAt(2) === 9;
}

function unsealText(raw: string): string | undefined {
  const end = raw.length - mark.length - lengthDigits;
  const length = end - mark.length;
  let said = 0;
  // 0 to 3 for the characters of `digits`.
  for (let at = end; at < end + lengthDigits; at++) {
    const code = raw.charCodeAt(at);
    said = (said << 2) | (((code >> 1) ^ ((code >> 5) * 3)) & 3);
  }
  return length > 0 && said === length % lengthPrime ? raw.slice(mark.length, end) : undefined;
}

function lengthOf(text: string): string {
  let left = text.length % lengthPrime;
  let written = '';
  for (let i = 0; i < lengthDigits; i++, left >>= 2) written = digits[left & 3] + written;
  return written;
}

const sealPattern = /^\n[0-9a-z]+\.([0-9a-z]+)\.([0-9a-z]+)\r\t\r$/;

function unsealFacts(raw: string): Answer | undefined {
  const end = raw.lastIndexOf('\n');
  const lengths = sealPattern.exec(raw.slice(end));
  if (lengths === null) return undefined;
  const start = end - Number.parseInt(lengths[1]!, 36);
  const jsonLength = start - 1 - mark.length;
  if (!(jsonLength > 0) || jsonLength !== Number.parseInt(lengths[2]!, 36)) return undefined;
  const factsEnd = raw.indexOf('\n', start);
  const facts = toFacts(raw.slice(start, factsEnd), raw.slice(factsEnd + 1, end));
  return facts && new Answer(raw.slice(mark.length, start - 1), facts, 'fresh', raw.slice(end));
}

function toFacts(line: string, head: string): AnswerFacts | undefined {
  try {
    const [madeAt, freshMs, costMs, tags, versions] = JSON.parse(line);
    const areNumbers = [madeAt, freshMs, costMs].every(Number.isFinite);
    if (!areNumbers || !areTags(tags, versions)) return undefined;
    return { head, madeAt, freshMs, costMs, tags, versions };
  } catch {
    return undefined;
  }
}

function areTags(tags: unknown, versions: unknown): boolean {
  if (!Array.isArray(tags) || !Array.isArray(versions) || tags.length !== versions.length)
    return false;
  return tags.every((tag) => typeof tag === 'string') && versions.every(Number.isFinite);
}

function nonce(): string {
  return Math.floor(Math.random() * 36 ** 8).toString(36);
}
