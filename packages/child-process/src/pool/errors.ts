/** What each code means; docs/guide/process-pool.md says the same. */
export const poolErrorDocs = {
  ERR_REDLINE_POOL_OPTION:
    '`createPool`, or a call on the pool, was given a value it cannot use; thrown',
  ERR_REDLINE_POOL_RUNTIME: 'the runtime is not there, or is neither Node nor Bun; thrown',
  ERR_REDLINE_POOL_CLOSED: 'the pool was closed before the call; thrown',
  ERR_REDLINE_POOL_WORKER_DIED:
    'the worker that ran the child ended, and the child was killed with it; the child emits it',
  ERR_REDLINE_POOL_NO_WORKER:
    'no worker is up, because each one ended while it started; the child emits it',
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
