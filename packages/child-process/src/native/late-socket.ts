import { Socket } from 'node:net';

/** Node's count of the bytes that a socket without a handle has read. */
const bytesRead = Object.getOwnPropertySymbols(new Socket()).find(
  ({ description }) => description === 'kBytesRead',
);

type States = Record<'_readableState' | '_writableState', Record<string, boolean>>;

/**
 * Returns the socket of an ended child's pipe on its first access, whose "close" is to come; without `hasEnded`, of one that was
 * closed before its end was read.
 */
export function closedSocket(hasEnded = true): Socket {
  const socket = new Socket();
  if (hasEnded) endReading(socket);
  return socket.destroy();
}

/** Returns the socket of a stdin that was destroyed, and emitted "close", before its first access. */
export function pastInput(): Socket {
  const socket = new Socket();
  endReading(socket);
  return destroyQuietly(socket);
}

/**
 * Returns the socket of an output that ended, and emitted "close", before its first access.
 * @param read bytes that were read from it, by a listener for them; `undefined` if there was none
 */
export function pastOutput(read?: number, attach?: (socket: Socket) => void): Socket {
  const socket = new Socket();
  const { _readableState: readable, _writableState: writable } = socket as unknown as States;
  endReading(socket);
  // Runs Node's own listener, after which a write fails like one to a socket that the other end has closed.
  socket.emit('end');
  for (const fact of ['ending', 'ended', 'finished']) writable[fact] = true;
  if (read !== undefined) {
    readable['flowing'] = true;
    Object.assign(socket, { [bytesRead!]: read });
  }
  attach?.(socket);
  return destroyQuietly(socket);
}

function endReading(socket: Socket): void {
  const { _readableState: readable } = socket as unknown as States;
  for (const fact of ['ended', 'endEmitted']) readable[fact] = true;
}

/** Destroys a socket without "close", which its own `_destroy` emits. */
function destroyQuietly(socket: Socket): Socket {
  socket._destroy = (_, done) => done();
  socket.destroy();
  Reflect.deleteProperty(socket, '_destroy');
  return socket;
}
