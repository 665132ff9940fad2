import { ANSWER_COUNT } from '../native/wire.ts';

/**
 * How many bytes the answers of a server may take up.
 *
 * @throws RangeError if `answers.maxBytes` is not a whole number above 0.
 */
export function maxBytesOf(options: unknown): number {
  const { answers } = (options ?? {}) as { answers?: { maxBytes?: number } };
  const maxBytes = answers?.maxBytes ?? ANSWER_COUNT.DEFAULT_MAX_BYTES;
  if (Number.isSafeInteger(maxBytes) && maxBytes > 0) return maxBytes;
  throw new RangeError(`answers.maxBytes is ${maxBytes}; it must be a whole number above 0`);
}
