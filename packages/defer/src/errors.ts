import { messageOf } from './thrown.ts';

/** Meaning of each code, as in README.md. */
export const deferErrorDocs = {
  ERR_REDLINE_DEFER_OPTION: 'An option is unknown or has an invalid value.',
  ERR_REDLINE_DEFER_NO_INSTANCE:
    '`defer()` was called outside a request, and there is not exactly one deferrer.',
  ERR_REDLINE_DEFER_UNKNOWN_JOB: 'The job was not made by `defineJob`.',
  ERR_REDLINE_DEFER_UNKNOWN_SINK: 'No sink of this name was given to `createDefer`.',
  ERR_REDLINE_DEFER_UNSERIALISABLE: 'The data cannot be serialised to JSON.',
  ERR_REDLINE_DEFER_TOO_LARGE: 'The job is larger than `maxJobBytes` or than its sink accepts.',
  ERR_REDLINE_DEFER_REFUSED: 'The sink refuses this job; the message has its reason.',
  ERR_REDLINE_DEFER_LEVEL:
    'The level needs a journal, an outbox or a transaction, which is missing.',
  ERR_REDLINE_DEFER_TOO_LATE:
    'The last bytes of the response were leaving, or had left: a wrapper of `response.end()` that is older than the middleware deferred the job, or the body was complete before it.',
  ERR_REDLINE_DEFER_FULL: 'The queue or the journal is full, and `overflow` is to refuse.',
  ERR_REDLINE_DEFER_CLOSED: 'The deferrer is closed.',
  ERR_REDLINE_DEFER_WITHDRAWN: 'The outcome of the request is not the one `when` asked for.',
  ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED:
    'The level was not reached, so the response must not claim it: it becomes a 503.',
  ERR_REDLINE_DEFER_JOURNAL:
    'The journal could not be read, written or synced; `cause` has the reason.',
  ERR_REDLINE_DEFER_JOURNAL_VERSION:
    'A journal was written by a newer version of this package. It is left unchanged.',
  ERR_REDLINE_DEFER_SEAL:
    'The key of a sealed journal is missing, wrong or could not be fetched. Nothing sealed was changed.',
  ERR_REDLINE_DEFER_DAMAGED: 'A journal is damaged. All records that can be read are delivered.',
  ERR_REDLINE_DEFER_TIMEOUT: 'The sink did not respond within `sendTimeoutMs`.',
  ERR_REDLINE_DEFER_DEAD: 'The job failed for good and is a dead letter; `cause` has the reason.',
} as const;

export type DeferErrorCode = keyof typeof deferErrorDocs;

/** An error of this package. `code` is stable; the message may change. */
export class DeferError extends Error {
  override readonly name = 'DeferError';
  readonly code: DeferErrorCode;
  /** Status of the response if Fastify or Express handles the error, or Nest, which recognises an HTTP error by all three. */
  readonly statusCode: number;
  readonly status: number;
  /** The message may name servers and paths. */
  readonly expose = false;

  constructor(code: DeferErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.statusCode = unavailable.has(code) ? 503 : 500;
    this.status = this.statusCode;
  }
}

const unavailable: ReadonlySet<DeferErrorCode> = new Set([
  'ERR_REDLINE_DEFER_FULL',
  'ERR_REDLINE_DEFER_CLOSED',
  'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
  'ERR_REDLINE_DEFER_SEAL',
]);

export function optionError(sentence: string, cause?: unknown): DeferError {
  return errorOf('ERR_REDLINE_DEFER_OPTION', sentence, cause);
}

export function levelError(sentence: string, cause?: unknown): DeferError {
  return errorOf('ERR_REDLINE_DEFER_LEVEL', sentence, cause);
}

export function sealError(sentence: string, cause?: unknown): DeferError {
  return errorOf('ERR_REDLINE_DEFER_SEAL', sentence, cause);
}

function errorOf(code: DeferErrorCode, sentence: string, cause: unknown): DeferError {
  return new DeferError(code, sentence, cause === undefined ? {} : { cause });
}

/** Wraps an error of the file system about the journal in a sentence of this package. */
export function journalError(sentence: string, cause: unknown): DeferError {
  const message = `${sentence}: ${messageOf(cause)}.`;
  return new DeferError('ERR_REDLINE_DEFER_JOURNAL', message, { cause });
}
