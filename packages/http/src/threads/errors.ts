/** Codes of the errors of `runThreads`, each with what it means. */
export const threadErrors = {
  ERR_REDLINE_HTTP_OPTION: 'An option of runThreads cannot be meant as it is.',
  ERR_REDLINE_HTTP_THREAD_NOT_STARTED:
    'A thread ended before any thread had started: its entry fails.',
} as const;

export type ThreadErrorCode = keyof typeof threadErrors;

export function errorOf(code: ThreadErrorCode, message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code });
}
