import { createHash } from 'node:crypto';

/** Longer values are compared by their beginning. */
const maxCompared = 10_000;

/** Returns a key that is the same for the same values. It stays in the process. */
export function keyOfValues(values: unknown): string {
  return createHash('sha1').update(serialised(values)).digest('base64');
}

function serialised(values: unknown): string {
  try {
    const text = JSON.stringify(values, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    return (text ?? '').slice(0, maxCompared);
  } catch {
    // Circular, or with a getter that throws: it equals only itself.
    return String(Math.random());
  }
}
