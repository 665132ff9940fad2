/** Codes of the errors that are this package's own, each with what it means. */
export const ownErrors = {
  ERR_REDLINE_HTTP_OPTION: 'An option of runThreads is unknown or has an invalid value.',
  ERR_REDLINE_HTTP_SOCKET:
    'The socket of a request is given to a native reader, TLS or HTTP/2: its bytes belong to the engine.',
  ERR_REDLINE_HTTP_THREAD_NOT_STARTED:
    'A thread exited before any thread had started: its entry fails.',
} as const;

export type OwnErrorCode = keyof typeof ownErrors;

export function errorOf(code: OwnErrorCode, message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return Object.assign(error, { code });
}
