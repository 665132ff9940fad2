import { EventEmitter } from 'node:events';
import { http } from './node-http.ts';

// Node keeps the state of its messages under symbols. They are found by description on fresh messages, so that Node's own
// methods run on this package's objects, and a Node version with other names is detected before it serves.
const outgoing = new http.OutgoingMessage();
const incoming = new http.IncomingMessage(null as never);

/** A fresh message of each kind, with the fields that its constructor sets. */
export const freshOutgoing: object = outgoing;
export const freshIncoming: object = incoming;

export const kOutHeaders: unique symbol = symbolOf(outgoing, 'kOutHeaders') as never;
export const kOutSocket: unique symbol = symbolOf(outgoing, 'kSocket') as never;
export const kCorked: unique symbol = symbolOf(outgoing, 'corked') as never;
export const kNeedDrain: unique symbol = symbolOf(outgoing, 'kNeedDrain') as never;
export const kErrored: unique symbol = symbolOf(outgoing, 'errored') as never;
export const kHighWaterMark: unique symbol = symbolOf(outgoing, 'kHighWaterMark') as never;
export const kRejectBody: unique symbol = symbolOf(
  outgoing,
  'kRejectNonStandardBodyWrites',
) as never;
export const kHeaders: unique symbol = symbolOf(incoming, 'kHeaders') as never;
export const kHeadersCount: unique symbol = symbolOf(incoming, 'kHeadersCount') as never;

// `request.signal`: Node 24.
export const kAbortController: unique symbol = (symbolOf(incoming, 'kAbortController') ??
  Symbol('kAbortController')) as never;
export const kAttachSignal: unique symbol = (symbolOf(
  http.IncomingMessage.prototype,
  'kAttachAbortSignal',
) ?? Symbol('kAttachAbortSignal')) as never;
export const kDetachSignal: unique symbol = (symbolOf(
  http.IncomingMessage.prototype,
  'kDetachAbortSignal',
) ?? Symbol('kDetachAbortSignal')) as never;

// Missing in Node 22. A symbol of our own is harmless there: no other code reads it.
export const kWritableFinished: unique symbol = (symbolOf(outgoing, 'kWritableFinished') ??
  Symbol('kWritableFinished')) as never;
export const kEndCallbacks: unique symbol = (symbolOf(outgoing, 'kEndCallbacks') ??
  Symbol('kEndCallbacks')) as never;
/** On Node 22 the callback of `end` is a listener of "finish". */
export const listensForEnd: boolean = symbolOf(outgoing, 'kEndCallbacks') === undefined;
const kBytesWritten: unique symbol = (symbolOf(outgoing, 'kBytesWritten') ??
  Symbol('kBytesWritten')) as never;

/** Chunks that `write` keeps until the end of its tick, three fields each, and their length: see `joinsChunks`. */
export const kChunkedBuffer: unique symbol = symbolOf(outgoing, 'kChunkedBuffer') as never;
export const kChunkedLength: unique symbol = symbolOf(outgoing, 'kChunkedLength') as never;

const [major] = process.versions.node.split('.');
/** Since Node 26, an upgrade request has a body, and a connection that has sent nothing is idle. */
export const isNode26: boolean = Number(major) >= 26;

/** Node 26, and Node 24 since some release, send the chunks written in one tick as one: the response corks itself. */
export const joinsChunks: boolean = corksItself();

function corksItself(): boolean {
  const message = new http.OutgoingMessage() as unknown as OutgoingInternals & {
    [kCorked]: number;
  };
  const socket = { writableCorked: 0, cork: () => {}, uncork: () => {} };
  Object.assign(message, { socket, _header: 'HTTP/1.1 200 OK\r\n\r\n', _headerSent: true });
  (message as unknown as { write(chunk: string): boolean }).write('a');
  return message[kCorked] > 0;
}

/** Returns the description of a symbol that this Node lacks, or `undefined` if none is missing. */
export function missingInternal(): string | undefined {
  const needed: [string, symbol | undefined][] = [
    ['kOutHeaders', kOutHeaders],
    ['kSocket', kOutSocket],
    ['corked', kCorked],
    ['kNeedDrain', kNeedDrain],
    ['errored', kErrored],
    ['kChunkedBuffer', kChunkedBuffer],
    ['kChunkedLength', kChunkedLength],
    ['kHighWaterMark', kHighWaterMark],
    ['kHeaders', kHeaders],
    ['kHeadersCount', kHeadersCount],
  ];
  return needed.find(([, symbol]) => symbol === undefined)?.[0];
}

/** Returns the symbol with this description that Node put on the object. */
export function symbolOf(object: object, description: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find((symbol) => symbol.description === description);
}

/** The parts of Node's OutgoingMessage and ServerResponse that its types leave out. */
export interface OutgoingInternals {
  _header: string | null;
  _headerSent: boolean;
  _contentLength: number | null;
  _hasBody: boolean;
  _last: boolean;
  _closed: boolean;
  _trailer: string;
  _sent100: boolean;
  _expect_continue: boolean;
  _keepAliveTimeout: number;
  _maxRequestsPerSocket: number;
  _removedConnection: boolean;
  _removedContLen: boolean;
  _removedTE: boolean;
  _defaultKeepAlive: boolean;
  maxRequestsOnConnectionReached: boolean;
  outputData: unknown[];
  outputSize: number;
  _onPendingData: (length: number) => void;
  [kOutHeaders]: Record<string, [string, unknown]> | null;
  [kNeedDrain]: boolean;
  [kCorked]: number;
  [kErrored]: Error | null | undefined;
  [kChunkedBuffer]: unknown[];
  [kChunkedLength]: number;
  [kHighWaterMark]: number;
  [kRejectBody]: boolean;
  [kWritableFinished]: boolean;
  [kEndCallbacks]: ((error: Error | null) => void)[] | null;
  [kBytesWritten]: number;
  _implicitHeader(): void;
  _send(data: unknown, encoding?: unknown, callback?: unknown, byteLength?: unknown): boolean;
  _flush(): void;
  _flushOutput(socket: object): boolean;
  _finish(): void;
  _isLenientHeaderValidation(): boolean;
}

/** The parts of Node's IncomingMessage that its types leave out. */
export interface IncomingInternals {
  _consuming: boolean;
  _dumped: boolean;
  _readableState: ReadableInternals;
  _dump(): void;
  _addHeaderLine(field: string, value: string, into: object): void;
  _addHeaderLines(headers: readonly string[], count: number): void;
  /** Missing in Node 22. */
  _dumpAndCloseReadable?(): void;
  [kHeaders]: object | null;
  [kHeadersCount]: number;
  [kAbortController]?: AbortController | null;
  [kAttachSignal]?(this: object): void;
  [kDetachSignal]?(): void;
}

export interface ReadableInternals {
  readingMore: boolean;
  resumeScheduled: boolean;
  ended: boolean;
  endEmitted: boolean;
  destroyed: boolean;
  closed: boolean;
  closeEmitted: boolean;
}

/** Fields of every EventEmitter. `_events` is undefined until a listener is added. */
export interface EmitterInternals {
  _events: Record<string, unknown> | undefined;
}

// Listener access of the engine without a counterpart in Node's server: it bypasses wrapped methods of messages.

type Listener = (...args: never[]) => void;
type Emitter = object & EmitterInternals;

const { prependListener } = EventEmitter.prototype;

export function countListeners(emitter: Emitter, event: string): number {
  const listeners = emitter._events?.[event];
  if (Array.isArray(listeners)) return listeners.length;
  return listeners === undefined ? 0 : 1;
}

export function hasListener(emitter: Emitter, event: string): boolean {
  return countListeners(emitter, event) > 0;
}

export function addFirstListener(emitter: Emitter, event: string, listener: Listener): void {
  prependListener.call(emitter as never, event, listener as never);
}
