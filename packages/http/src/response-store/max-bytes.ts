import { ANSWER_COUNT } from '../native/wire.ts';

/**
 * Returns the max number of bytes for the response store of a server.
 *
 * @throws RangeError if `responseStore.maxBytes` is not a whole number above 0.
 */
export function maxBytesOf(options: unknown): number {
  const { responseStore } = (options ?? {}) as { responseStore?: { maxBytes?: number } };
  const maxBytes = responseStore?.maxBytes ?? ANSWER_COUNT.DEFAULT_MAX_BYTES;
  if (Number.isSafeInteger(maxBytes) && maxBytes > 0) return maxBytes;
  throw new RangeError(`responseStore.maxBytes is ${maxBytes}; it must be a whole number above 0`);
}
