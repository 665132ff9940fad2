/**
 * What a handler works with is away, and the job itself has not failed: no attempt is counted. `cause` is what its
 * client said.
 */
export class Unavailable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'Unavailable';
  }

  /** As it is when the server has answered with it, else as what it is. */
  static rethrow(this: void, error: unknown): never {
    throw isAnswer(error) ? error : new Unavailable(error);
  }
}

/* SQLSTATE has five characters; of those, 08 is the connection's, 53 has no room, 57P a server that ends or begins. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !/^(08|53|57P)/.test(code);
}
