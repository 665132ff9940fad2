import { getSystemErrorName, inspect } from 'node:util';

/** Meaning of each code; README.md has the same texts. */
export const httpErrorDocs = {
  ERR_REDLINE_HTTP_OBSERVER: '`observeExchanges` was called on a thread that has an observer',
  ERR_REDLINE_HTTP_OPTION:
    'an option of `runThreads` or `proxyProtocol` is unknown or has an invalid value, or the engine does not serve',
  ERR_REDLINE_HTTP_PROXY:
    'in `clientError`: a connection of a trusted proxy does not begin with a valid header of the PROXY protocol',
  ERR_REDLINE_HTTP_SOCKET:
    '`request.socket` was given to TLS or HTTP/2, which read it natively; use the socket of `upgrade` or `connect` instead',
  ERR_REDLINE_HTTP_THREAD_NOT_STARTED:
    '`threads.started` rejects: a thread exited before any had started',
} as const;

export type HttpErrorCode = keyof typeof httpErrorDocs;

/** An error of this package's own. `code` is stable; the message may change. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;

  constructor(code: HttpErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// Below: Node's own errors, for behaviour copied from Node. Their classes are not public, so only their shape is reproduced.

/** Creates an error like Node's internals do: with `code`, also in the first line of the stack. */
export function nodeError(code: string, message: string, Base: ErrorConstructor = Error): Error {
  const error = new Base(message);
  Object.defineProperty(error, 'stack', {
    value: error.stack?.replace(error.name, `${error.name} [${code}]`),
    writable: true,
    configurable: true,
  });
  return Object.assign(error, { code });
}

/** ERR_INVALID_ARG_VALUE. */
export function invalidArgument(name: string, value: unknown): Error {
  const shown = inspect(value).slice(0, 128);
  const message = `The argument '${name}' is invalid. Received ${shown}`;
  return nodeError('ERR_INVALID_ARG_VALUE', message, TypeError);
}

/** Returns the error of a message whose connection ended early. */
export function connectionReset(): Error {
  return Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}

/** ERR_HTTP_REQUEST_TIMEOUT. */
export function requestTimeout(): Error {
  return nodeError('ERR_HTTP_REQUEST_TIMEOUT', 'Request timeout');
}

/** ERR_STREAM_DESTROYED. */
export function streamDestroyed(operation: string): Error {
  return nodeError('ERR_STREAM_DESTROYED', `Cannot call ${operation} after a stream was destroyed`);
}

/** Returns an error like the one of Node's parser, for `clientError`. */
export function parseError(
  code: string,
  reason: string,
  bytesParsed: number,
  rawPacket: Buffer | undefined,
): Error {
  if (code === 'ERR_REDLINE_HTTP_PROXY') {
    const error = new HttpError(code, `Invalid header of the PROXY protocol: ${reason}`);
    return Object.assign(error, { bytesParsed, reason, rawPacket });
  }
  // Node omits the reason if it has no bytes to show.
  const message = rawPacket === undefined ? 'Parse Error' : `Parse Error: ${reason}`;
  return Object.assign(new Error(message), {
    bytesParsed,
    code,
    reason,
    rawPacket,
  });
}

/** A failed system call. `errno` is positive. */
export function systemError(errno: number, syscall: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`${syscall} ${code}`), { errno: -errno, code, syscall });
}
