import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { EngineConnection, EngineRequest as Request } from '../exchange.ts';
import { defineHidden, defineOwn, inheritDefaults } from '../node/message-defaults.ts';
import type { HeaderBlock } from '../native/index.ts';
import { kContext, kReleased } from '../node/message-state.ts';
import { http } from '../node/node-http.ts';
import {
  freshIncoming,
  kAttachSignal,
  kHeaders,
  kHeadersCount,
  type IncomingInternals,
  type ReadableInternals,
} from '../node/node-internals.ts';
import { nodeEmit } from '../node/replaced-methods.ts';
import { headersOf } from './request-headers.ts';

const kRequestConnection: unique symbol = Symbol('connection');
const kBlock: unique symbol = Symbol('headerBlock');

/** Node's own methods, for messages of Node's servers: a framework that serves both has our prototype in the chain of both. */
const nodeRequest = http.IncomingMessage.prototype;
const getNodeHeaders = Object.getOwnPropertyDescriptor(nodeRequest, 'headers')!.get!;

/** Sets the fields used by most requests in one order, so that all requests have one shape. */
export function startRequest(
  request: EngineRequest,
  connection: EngineConnection,
  method: string,
  url: string,
  minorVersion: 0 | 1,
  block: HeaderBlock,
): void {
  request._events = undefined;
  request[kRequestConnection] = connection;
  request[kBlock] = block;
  request[kHeaders] = null;
  request.method = method;
  request.url = url;
  request.httpVersionMajor = 1;
  request.httpVersionMinor = minorVersion;
  request.complete = false;
  request.joinDuplicateHeaders = connection.server.joinDuplicateHeaders;
}

/** A request parsed by the engine: an `http.IncomingMessage` whose headers, stream and socket are created on first access. */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging -- the prototype below ends in IncomingMessage's
export interface EngineRequest extends Request {
  [kRequestConnection]: EngineConnection | undefined;
  [kBlock]: HeaderBlock | undefined;
}

// eslint-disable-next-line typescript/no-unsafe-declaration-merging
export class EngineRequest {
  constructor(
    connection: EngineConnection,
    method: string,
    url: string,
    minorVersion: 0 | 1,
    block: HeaderBlock,
  ) {
    startRequest(this, connection, method, url, minorVersion, block);
  }

  get httpVersion(): string {
    return (this[kBlock] && (this.httpVersionMinor === 1 ? '1.1' : '1.0')) as string;
  }
  set httpVersion(value: string) {
    defineOwn(this, 'httpVersion', value);
  }

  get headers(): IncomingHttpHeaders {
    if (this[kBlock] === undefined) return getNodeHeaders.call(this) as IncomingHttpHeaders;
    return (this[kHeaders] ??= headersOf(this, this[kBlock])) as IncomingHttpHeaders;
  }
  set headers(value: IncomingHttpHeaders) {
    this[kHeaders] = value;
  }

  get rawHeaders(): string[] {
    const raw = this[kBlock]?.raw.slice();
    if (raw === undefined) return undefined as never;
    defineOwn(this, 'rawHeaders', raw);
    return raw;
  }
  set rawHeaders(value: string[]) {
    defineOwn(this, 'rawHeaders', value);
  }

  get socket(): Socket {
    return this[kRequestConnection]?.socket() as Socket;
  }
  set socket(value: Socket) {
    defineOwn(this, 'socket', value);
  }

  get client(): Socket {
    return this.socket;
  }
  set client(value: Socket) {
    defineOwn(this, 'client', value);
  }

  // The engine delivers a complete body at once, after which Node never reads for more. A read consumes it.
  read(_size?: number): unknown {
    if (!this._consuming && this[kRequestConnection] !== undefined) {
      this._readableState.readingMore = false;
      this._consuming = true;
    }
    // Called on the prototype with the original arguments, since the method may have been replaced there.
    return nodeRequest.read.apply(this as never, arguments as never);
  }

  _read(_size?: number): void {
    if (this[kRequestConnection] === undefined) {
      nodeRequest._read.apply(this as never, arguments as never);
      return;
    }
    if (!this._consuming) {
      this._readableState.readingMore = false;
      this._consuming = true;
    }
    this[kRequestConnection].resumeReading();
  }
}

Object.setPrototypeOf(EngineRequest, http.IncomingMessage);
Object.setPrototypeOf(EngineRequest.prototype, http.IncomingMessage.prototype);
defineHidden(EngineRequest.prototype, 'constructor', http.IncomingMessage);
Object.defineProperty(EngineRequest.prototype, kHeadersCount, {
  configurable: true,
  get(this: EngineRequest) {
    return this[kBlock]?.raw.length;
  },
  set(this: EngineRequest, value: number) {
    defineOwn(this, kHeadersCount, value);
  },
});
// Ties `request.signal` to the connection, unless the response is finished.
const attachSignal = (http.IncomingMessage.prototype as never as IncomingInternals)[kAttachSignal];
defineHidden(EngineRequest.prototype, kAttachSignal, function attach(this: EngineRequest) {
  if (this[kRequestConnection]?.hasPendingResponse(this) !== false) attachSignal!.call(this);
});
inheritDefaults(
  EngineRequest.prototype,
  freshIncoming,
  new Set<PropertyKey>([
    ...Reflect.ownKeys(EngineRequest.prototype),
    '_events',
    '_eventsCount',
    '_readableState',
    'url',
    'method',
  ]),
);

/** A request with a body; a stream from the start. */
export class BodyRequest extends EngineRequest {
  // Declared as a field, which defines instead of assigning: an app's prototypes inherit from requests without a body.
  override _readableState: ReadableInternals = undefined as never;

  constructor(
    connection: EngineConnection,
    method: string,
    url: string,
    minorVersion: 0 | 1,
    block: HeaderBlock,
  ) {
    super(connection, method, url, minorVersion, block);
    makeReadable(this as never);
  }
}

/** A request without a body; it becomes a stream on first use as one. */
export class BodylessRequest extends EngineRequest {
  override get _readableState(): ReadableInternals {
    return becomeStream(this) as ReadableInternals;
  }
  override set _readableState(value: ReadableInternals) {
    defineOwn(this, '_readableState', value);
  }
}
for (const kind of [BodyRequest, BodylessRequest]) {
  defineHidden(kind.prototype, 'constructor', http.IncomingMessage);
}
defineOwn(EngineRequest.prototype, kReleased, false);
defineOwn(EngineRequest.prototype, kContext, undefined);
defineOwn(EngineRequest.prototype, 'upgrade', false);

const { _read: ownRead_, read: ownRead } = EngineRequest.prototype;
const { on, push, resume, destroy, _destroy, listenerCount, removeAllListeners } = nodeRequest;
const { _dump } = nodeRequest as never as IncomingInternals;

/** Returns true if a method that a stream calls on itself was replaced: on this request, or on its prototypes. */
export function isRequestReplaced(request: Request): boolean {
  return (
    request.emit !== nodeEmit ||
    request.on !== on ||
    request.push !== push ||
    request.read !== ownRead ||
    (request as unknown as EngineRequest)._read !== ownRead_ ||
    request.resume !== resume ||
    request._dump !== _dump ||
    request.destroy !== destroy ||
    request._destroy !== _destroy ||
    request.listenerCount !== listenerCount ||
    request.removeAllListeners !== removeAllListeners
  );
}

/** Returns true if the request has a body or was used as a stream. */
export function isStream(request: Request): boolean {
  return Object.hasOwn(request, '_readableState');
}

function becomeStream(request: BodylessRequest): ReadableInternals | undefined {
  if (request[kRequestConnection] === undefined) return undefined;
  makeReadable(request as never);
  const state = request._readableState;
  if (request[kReleased]) {
    request._dumped = true;
    state.ended = true;
    state.endEmitted = true;
    state.destroyed = true;
    state.closed = true;
    state.closeEmitted = true;
  } else if (request.complete) {
    request.push(null);
  }
  return state;
}

function makeReadable(request: Readable & IncomingInternals & EngineRequest): void {
  const { highWaterMark } = request[kRequestConnection]!.server;
  (Readable as unknown as (this: unknown, options: object) => void).call(request, {
    highWaterMark,
  });
  request._readableState.readingMore = true;
}
