import { randomFillSync } from 'node:crypto';
import { LEVEL, RING } from './wire.ts';

/** Words of the seed from which the ids of requests are derived. */
const SEED_WORDS = 6;

/** Number of words of records that {@link createRing} makes room for by default: 256 KiB. */
export const DEFAULT_RING_SIZE = 65_536;

/**
 * Makes the memory of a ring, with a random seed.
 *
 * @param size number of words of records: a power of two, 1,024 or more
 * @param level the facts that its writer reports: one of `LEVEL`
 */
export function createRing(
  size: number = DEFAULT_RING_SIZE,
  level: number = LEVEL.HEADS,
): Uint32Array<ArrayBuffer> {
  if (!Number.isInteger(Math.log2(size)) || size < 1024) {
    throw new RangeError(`The size of a ring must be a power of two, 1024 or more; got ${size}.`);
  }
  const ring = new Uint32Array(RING.FIRST_RECORD + size);
  ring[RING.LEVEL] = level;
  randomFillSync(ring, RING.SEED, SEED_WORDS);
  Atomics.store(ring, RING.VERSION, RING.LAYOUT);
  return ring;
}
