import { DeferError } from '../errors.ts';
import { messageOf } from '../thrown.ts';

/** Wraps an error of the file system about the journal in a sentence of this package. */
export function journalError(sentence: string, cause: unknown): DeferError {
  const message = `${sentence}: ${messageOf(cause)}.`;
  return new DeferError('ERR_REDLINE_DEFER_JOURNAL', message, { cause });
}
