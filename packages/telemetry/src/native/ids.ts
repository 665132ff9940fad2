import { randomFillSync } from 'node:crypto';
import { RING } from './wire.ts';

/** Two digits of each byte. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/** State of the generator SFC32 (Chris Doty-Humphrey), seeded by the system: ids have to be different, not secret. */
const state = randomFillSync(new Int32Array(4));

/** Returns a random word, with a sign. */
export function randomWord(): number {
  const a = state[0] as number;
  const b = state[1] as number;
  const c = state[2] as number;
  const counter = state[3] as number;
  const word = (((a + b) | 0) + counter) | 0;
  state[0] = b ^ (b >>> 9);
  state[1] = (c + (c << 3)) | 0;
  state[2] = (((c << 21) | (c >>> 11)) + word) | 0;
  state[3] = (counter + 1) | 0;
  return word;
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
