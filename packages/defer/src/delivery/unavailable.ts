import { messageOf } from '../thrown.ts';

/**
 * What a handler works with is away, and the job itself has not failed: no attempt is counted. `cause` is what its
 * client said.
 */
export class Unavailable extends Error {
  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.name = 'Unavailable';
  }

  /** Unchanged when the server has responded with it, otherwise as what it is. */
  static rethrow(this: void, error: unknown): never {
    throw isAnswer(error) ? error : new Unavailable(error);
  }
}

/** Also of what throws when it is asked. */
export function isUnavailable(thrown: unknown): thrown is Unavailable {
  try {
    return thrown instanceof Unavailable;
  } catch {
    return false;
  }
}

/* SQLSTATE has five characters; of those, 08 is the connection's, 53 has no room, 57P a server that ends or begins. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
}
