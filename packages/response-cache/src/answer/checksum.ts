import zlib from 'node:zlib';

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
