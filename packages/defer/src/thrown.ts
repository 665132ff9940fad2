import { inspect } from 'node:util';

/* Code of the app may throw anything: what has no prototype, a circular object, a getter that throws itself. */

/** What was thrown, in a sentence. */
export function messageOf(thrown: unknown): string {
  return said(thrown, ({ message }) => message);
}

/** The same with the stack, where there is one. */
export function reasonOf(thrown: unknown): string {
  return said(thrown, ({ stack, message }) => stack ?? message);
}

/** Its code, or else its name, for a label. */
export function typeOf(thrown: unknown): string {
  try {
    const { code, name } = (thrown ?? {}) as { code?: unknown; name?: unknown };
    if (typeof code === 'string') return code;
    return typeof name === 'string' ? name : '_OTHER';
  } catch {
    return '_OTHER';
  }
}

/** True where it says of itself that another try is in vain. */
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
