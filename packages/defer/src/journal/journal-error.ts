import { DeferError } from '../errors.ts';
import { messageOf } from '../thrown.ts';

/** What the file system says about the journal, in a sentence of ours. */
export function journalError(sentence: string, cause: unknown): DeferError {
  const message = `${sentence}: ${messageOf(cause)}.`;
  return new DeferError('ERR_REDLINE_DEFER_JOURNAL', message, { cause });
}
