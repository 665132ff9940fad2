import { inspect } from 'node:util';

/* Code of the app may throw anything: a value without a prototype, a circular object, a getter that itself throws. */

export function messageOf(thrown: unknown): string {
  return said(thrown, ({ message }) => message);
}

/** Returns the stack of a thrown value, or its message. */
export function reasonOf(thrown: unknown): string {
  return said(thrown, ({ stack, message }) => stack ?? message);
}

/** Returns the code of a thrown value, or its name, for a label. */
export function typeOf(thrown: unknown): string {
  try {
    const { code, name } = (thrown ?? {}) as { code?: unknown; name?: unknown };
    if (typeof code === 'string') return code;
    return typeof name === 'string' ? name : '_OTHER';
  } catch {
    return '_OTHER';
  }
}

/** True if the error itself says that another attempt is useless. */
export function isFinal(thrown: unknown): boolean {
  try {
    return (thrown as { retryable?: unknown } | undefined | null)?.retryable === false;
  } catch {
    return false;
  }
}

function said(thrown: unknown, ofError: (error: Error) => unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    const text = thrown instanceof Error ? ofError(thrown) : undefined;
    return typeof text === 'string' ? text : inspect(thrown, { depth: 2 });
  } catch {
    return `A value of type ${typeof thrown}, which cannot be shown.`;
  }
}
