/** Codes of the errors that are this package's own, each with what it means. */
export const ownErrors = {
  ERR_REDLINE_HTTP_OPTION: 'An option of runThreads cannot be meant as it is.',
  ERR_REDLINE_HTTP_SOCKET:
    'The socket of a request is given to what reads it natively, TLS or HTTP/2: its bytes are the engine’s.',
  ERR_REDLINE_HTTP_THREAD_NOT_STARTED:
    'A thread ended before any thread had started: its entry fails.',
} as const;

export type OwnErrorCode = keyof typeof ownErrors;

export function errorOf(code: OwnErrorCode, message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code });
}
