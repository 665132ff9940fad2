import type { Socket } from 'node:net';
import type { EngineConnection, ServingServer } from '../exchange.ts';
import { WRITE_FLAGS } from '../native/index.ts';

/** The socket of a connection, when something is wrong with it. */
interface FailingSocket extends Socket {
  readonly server: ServingServer;
  readonly connection: EngineConnection;
  /** Only the first error is emitted; its consequences are not. */
  ignoreErrors(): void;
}

const ANSWERS = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
]);

/** Returns the response sent to the client if `clientError` has no listeners. */
export function answerTo(code: string | undefined): string {
  const status = ANSWERS.get(code ?? '') ?? '400 Bad Request';
  return `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;
}

/** Emits `clientError` for an error of the connection or in the client's bytes; without listeners, responds and closes. */
export function failConnection(
  socket: FailingSocket,
  error: NodeJS.ErrnoException,
  place?: number,
): void {
  socket.ignoreErrors();
  if (socket.server.emit('clientError', error, socket)) return;
  if (place !== undefined) {
    // Earlier requests have no response yet: the refusal is queued after them.
    const { native } = socket.connection;
    native.answer(place, answerTo(error.code), undefined, WRITE_FLAGS.CLOSE);
    // Any further bytes would be refused again.
    native.discardBody();
    return;
  }
  const { first } = socket.connection;
  if (socket.writable && (first === null || !first._headerSent)) socket.write(answerTo(error.code));
  socket.destroy(error);
}
