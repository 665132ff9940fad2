/** Meaning of each code; docs/guide/process-pool.md has the same texts. */
export const poolErrorDocs = {
  ERR_REDLINE_POOL_OPTION: '`createPool`, or a call on the pool, got an invalid value; thrown',
  ERR_REDLINE_POOL_RUNTIME: 'the runtime does not exist, or is neither Node nor Bun; thrown',
  ERR_REDLINE_POOL_WORKER_FILE:
    'the program of the workers is missing, as it is in a bundle; thrown',
  ERR_REDLINE_POOL_CLOSED: 'the pool was closed before the call; thrown',
  ERR_REDLINE_POOL_WORKER_DIED:
    'the worker that ran the child exited, and the child was killed with it; the child emits it',
  ERR_REDLINE_POOL_NO_WORKER:
    'no worker is up, because each one exited during start-up; the child emits it',
} as const;

export type PoolErrorCode = keyof typeof poolErrorDocs;

export class PoolError extends Error {
  override readonly name = 'PoolError';
  readonly code: PoolErrorCode;

  constructor(code: PoolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
