import { CacheError } from '../errors.ts';

/** Settles like `answer`, and rejects if that takes longer than `ms`. */
export async function withTimeout<T>(ms: number, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const text = `The server did not respond within ${ms} ms.`;
    reject(new CacheError('ERR_REDLINE_CACHE_STORE_TIMEOUT', text));
  }, ms);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}
