import { randomFillSync } from 'node:crypto';
import { RING } from './wire.ts';

/** Two digits of each byte. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** Words that are drawn at once: one call for hundreds of ids. */
const POOL_WORDS = 1024;
const pool = new Int32Array(POOL_WORDS);
let drawn = POOL_WORDS;

/** Returns a random word, with a sign. */
export function randomWord(): number {
  if (drawn === POOL_WORDS) {
    randomFillSync(pool);
    drawn = 0;
  }
  return pool[drawn++] as number;
}

/**
 * Returns word `index` of the ids of a request: 0 to 3 are those of its trace id, 4 and 5 of its span id. It has a sign, and is
 * never 0. `crates/telemetry_ring/src/ids.rs` computes the same.
 */
export function requestWord(
  ring: Uint32Array,
  index: number,
  slot: number,
  generation: number,
  sequence: number,
): number {
  const withSlot = mix((ring[RING.SEED + index] as number) ^ slot);
  const withGeneration = mix(withSlot ^ generation);
  return mix(withGeneration ^ sequence) || 1;
}

/** Returns the eight digits of a word. */
export function hexOfWord(word: number): string {
  return (
    (HEX[word >>> 24] as string) +
    (HEX[(word >>> 16) & 0xff] as string) +
    (HEX[(word >>> 8) & 0xff] as string) +
    (HEX[word & 0xff] as string)
  );
}

/** Returns the word of eight digits of an id, with a sign. */
export function wordOfHex(id: string, at: number): number {
  return Number.parseInt(id.slice(at, at + 8), 16) | 0;
}

/** MurmurHash3's finalizer. */
function mix(word: number): number {
  let mixed = (word + 0x9e37_79b9) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
