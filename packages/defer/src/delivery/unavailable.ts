import { messageOf } from '../thrown.ts';

/**
 * A server or file that a handler needs is unavailable. The job itself has not failed: no attempt is counted. `cause` has the
 * reason.
 */
export class Unavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'Unavailable';
  }

  /** Rethrows an error that PostgreSQL has responded with, and anything else as `Unavailable`. */
  static rethrow(this: void, error: unknown): never {
    throw isAnswer(error) ? error : new Unavailable(error);
  }

  /** Returns the same function for another database, whose errors `isAway` distinguishes. */
  static rethrowIf(isAway: (error: unknown) => boolean): (error: unknown) => never {
    return (error) => {
      throw isAway(error) ? new Unavailable(error) : error;
    };
  }
}

/** Returns false for values whose `instanceof` throws. */
export function isUnavailable(thrown: unknown): thrown is Unavailable {
  try {
    return thrown instanceof Unavailable;
  } catch {
    return false;
  }
}

/* A SQLSTATE has five characters. Class 08 is the connection, 53 a lack of resources, 57P a server that stops or starts. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
}
