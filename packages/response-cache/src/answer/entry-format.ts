import { Answer, type AnswerFacts } from './answer.ts';
import zlib from 'node:zlib';

/** Values whose checksum is not computed: all, or those with a known one. */
type Trusted = KnownSums | 'all';

/*
 * Both ends of a value have a mark of this format, and its length and checksum precede the last one: a value that was cut short,
 * lost bytes within or has a flipped bit is rejected. So are values of the previous format, which had no checksum.
 * JSON allows white space at both ends, so any other reader of the store still parses an encoded text.
 * A line feed alone is not enough: `redis-cli -x set` and most editors end whatever they write with one.
 */
const mark = '\t\r\t';
/*
 * Follows the facts, the head, both lengths and the checksum:
 * `{"id":7}\n[1763812800000,5000,12,[],[],"x1"]\n{"status":203}\nx1.14.8.1k2j\r\t\r`.
 */
const factsMark = '\r\t\r';
/* The length in base 4, modulo a prime below 4 ** 6, and the checksum. */
const lengthDigits = 6;
const lengthPrime = 4_093;
const sumDigits = 16;
const digits = '\t\n\r ';

/** Marks an answer as written by this cache, from its first character to its last. No two answers with facts end alike. */
export function encodeEntry(answer: string | Answer): string {
  if (typeof answer === 'string') {
    const length = inDigits(answer.length % lengthPrime, lengthDigits);
    return `${mark}${answer}${inDigits(crc32(answer), sumDigits)}${length}${mark}`;
  }
  const { json, head, madeAt, freshMs, costMs, tags, versions } = answer;
  const facts = JSON.stringify([madeAt, freshMs, costMs, tags, versions]);
  const details = `\n${facts}\n${head}`;
  const lengths = `${(details.length - 1).toString(36)}.${json.length.toString(36)}`;
  const sum = crc32(details, crc32(json)).toString(36);
  return `${mark}${json}${details}\n${nonce()}.${lengths}.${sum}${factsMark}`;
}

/**
 * Returns the answer in a stored value; undefined if the value holds none or is damaged.
 * The marks spare a hit the parse. A value without them comes from another writer, and is parsed to be sure.
 *
 * @param trusted checksums of values that are not checked again
 */
export function decodeEntry(raw: string, trusted?: Trusted): string | Answer | undefined {
  const isOurs = beginsWithMark(raw);
  if (isOurs && raw.endsWith(mark)) return decodeText(raw, trusted);
  if (isOurs || raw.endsWith(factsMark)) return isOurs ? decodeWithFacts(raw, trusted) : undefined;
  if (raw.endsWith(mark)) return undefined;
  try {
    JSON.parse(raw);
    return raw;
  } catch {
    return undefined;
  }
}

/** Returns the text of a value without facts; undefined for any other value or a wrong length. Ignores the checksum. */
export function textIn(raw: string): string | undefined {
  return beginsWithMark(raw) && raw.endsWith(mark) ? sliceText(raw) : undefined;
}

/** True for a value of this cache that changed in the store. */
export function isDamaged(raw: string): boolean {
  return beginsWithMark(raw) && decodeEntry(raw) === undefined;
}

/* Compares character by character, because it runs on every hit. */
function beginsWithMark(raw: string): boolean {
  return raw.charCodeAt(0) === 9 && raw.charCodeAt(1) === 13 && raw.charCodeAt(2) === 9;
}

function decodeText(raw: string, trusted: Trusted | undefined): string | undefined {
  const text = sliceText(raw);
  if (text === undefined) return undefined;
  const sum = ofDigits(raw, raw.length - mark.length - lengthDigits - sumDigits, sumDigits);
  return hasSum(text, sum, trusted) ? text : undefined;
}

function sliceText(raw: string): string | undefined {
  const end = raw.length - mark.length - lengthDigits;
  const textEnd = end - sumDigits;
  const length = textEnd - mark.length;
  if (!(length > 0) || ofDigits(raw, end, lengthDigits) !== length % lengthPrime) return undefined;
  return raw.slice(mark.length, textEnd);
}

/** @param sum a signed number of 32 bits */
function hasSum(text: string, sum: number, trusted: Trusted | undefined): boolean {
  if (trusted === 'all' || trusted?.has(sum) === true) return true;
  const isWhole = (crc32(text) | 0) === sum;
  if (isWhole) trusted?.add(sum);
  return isWhole;
}

function inDigits(number: number, count: number): string {
  let left = number;
  let written = '';
  for (let i = 0; i < count; i++, left >>>= 2) written = digits[left & 3] + written;
  return written;
}

/* Returns a signed number of 32 bits. */
function ofDigits(raw: string, from: number, count: number): number {
  let number = 0;
  // 0 to 3 for the characters of `digits`.
  for (let at = from; at < from + count; at++) {
    const code = raw.charCodeAt(at);
    number = (number << 2) | (((code >> 1) ^ ((code >> 5) * 3)) & 3);
  }
  return number;
}

const footerPattern = /^\n[0-9a-z]+\.([0-9a-z]+)\.([0-9a-z]+)\.([0-9a-z]+)\r\t\r$/;

function decodeWithFacts(raw: string, trusted: Trusted | undefined): Answer | undefined {
  const end = raw.lastIndexOf('\n');
  const footer = footerPattern.exec(raw.slice(end));
  if (footer === null) return undefined;
  const [details, length, sum] = footer.slice(1).map((text) => Number.parseInt(text, 36));
  const start = end - details!;
  const jsonLength = start - 1 - mark.length;
  if (!(jsonLength > 0) || jsonLength !== length) return undefined;
  if (!hasSum(raw.slice(mark.length, end), sum! | 0, trusted)) return undefined;
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

/* Node 22.2 and newer. A named import would be a SyntaxError on older versions. */
const native = (zlib as { crc32?: (text: string, before?: number) => number }).crc32;

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/** Returns the CRC-32 of `text` in UTF-8; `before` is the CRC-32 of the preceding bytes. */
export const crc32: (text: string, before?: number) => number = native ?? crc32InJavaScript;

/** Same as `crc32`, for versions of Node without a native one. */
export function crc32InJavaScript(text: string, before = 0): number {
  let crc = ~before;
  for (const byte of Buffer.from(text)) crc = table[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

const slots = 2 ** 16;

/** Checksums of undamaged texts, in a table of 256 KiB: a new one replaces the older of the two in its bucket. */
export class KnownSums {
  readonly #sums = new Int32Array(slots);

  /** @param sum a signed number of 32 bits */
  has(sum: number): boolean {
    const at = bucketOf(sum);
    // 0 marks an empty slot.
    return sum !== 0 && (this.#sums[at] === sum || this.#sums[at + 1] === sum);
  }

  add(sum: number): void {
    const at = bucketOf(sum);
    this.#sums[at + 1] = this.#sums[at]!;
    this.#sums[at] = sum;
  }
}

function bucketOf(sum: number): number {
  return (sum ^ (sum >>> 16)) & (slots - 2);
}
