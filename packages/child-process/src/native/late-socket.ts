import { Socket } from 'node:net';

/** Node's count of the bytes that a socket without a handle has read. */
const bytesRead = Object.getOwnPropertySymbols(new Socket()).find(
  ({ description }) => description === 'kBytesRead',
);

type States = Record<'_readableState' | '_writableState', Record<string, boolean>>;

/** The facts of an output without a socket that Node's socket shows after its end. */
export interface Unseen {
  /** Number of bytes collected or discarded. */
  readonly bytes: number;
  /** True if Node has listened to it, or resumed it at the exit because it had not ended by then. */
  readonly hasFlowed: boolean;
}

/**
 * Returns the socket of an ended child's pipe on its first access, whose "close" is to come; without `hasEnded`, of one that was
 * closed before its end was read.
 */
export function closedSocket(hasEnded = true, unseen?: Unseen): Socket {
  const socket = new Socket();
  if (unseen?.hasFlowed) flowPast(socket, unseen.bytes);
  if (hasEnded) endReading(socket);
  return socket.destroy();
}

/** Returns the socket of a stdin that was destroyed, and emitted "close", before its first access. */
export function pastInput(): Socket {
  const socket = new Socket();
  endReading(socket);
  return destroyQuietly(socket);
}

/** Returns the socket of an output that ended, and emitted "close", before its first access. */
export function pastOutput(unseen: Unseen, attach?: (socket: Socket) => void): Socket {
  const socket = new Socket();
  const { _writableState: writable } = socket as unknown as States;
  endReading(socket);
  // Runs Node's own listener, after which a write fails like one to a socket that the other end has closed.
  socket.emit('end');
  for (const fact of ['ending', 'ended', 'finished']) writable[fact] = true;
  if (unseen.hasFlowed) flowPast(socket, unseen.bytes);
  attach?.(socket);
  return destroyQuietly(socket);
}

function endReading(socket: Socket): void {
  const { _readableState: readable } = socket as unknown as States;
  for (const fact of ['ended', 'endEmitted']) readable[fact] = true;
}

/** Gives a socket the state of one whose bytes have flowed past. */
function flowPast(socket: Socket, bytes: number): void {
  const { _readableState: readable } = socket as unknown as States;
  readable['flowing'] = true;
  if (bytes > 0) markAsRead(socket);
  Object.assign(socket, { [bytesRead!]: bytes });
}

/** Makes `readableDidRead` true. */
export function markAsRead(socket: Socket): void {
  const { _readableState: readable } = socket as unknown as States;
  readable['dataEmitted'] = true;
}

/** Destroys a socket without "close", which its own `_destroy` emits. */
function destroyQuietly(socket: Socket): Socket {
  socket._destroy = (_, done) => done();
  socket.destroy();
  Reflect.deleteProperty(socket, '_destroy');
  return socket;
}
