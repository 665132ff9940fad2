import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { EngineConnection, EngineRequest as Request, EngineResponse } from './exchange.ts';
import { defineHidden, defineOwn, inheritDefaults, ownDefaults } from './message-defaults.ts';
import type { HeaderBlock } from './native/index.ts';
import { http } from './node-http.ts';
import {
  freshIncoming,
  kAttachSignal,
  kHeaders,
  kHeadersCount,
  type IncomingInternals,
  type ReadableInternals,
} from './node-internals.ts';
import { headersOf } from './request-headers.ts';
import { standAlone } from './response-output.ts';

const kRequestConnection: unique symbol = Symbol('connection');
const kBlock: unique symbol = Symbol('headerBlock');
/** Its response is finished and nobody had looked at its stream: it is at its end. */
export const kOver: unique symbol = Symbol('over');

/**
 * A request that the engine parsed: a `http.IncomingMessage` whose headers, stream and socket are made when they are
 * looked at.
 */
// eslint-disable-next-line typescript/no-unsafe-declaration-merging -- the prototype below ends in IncomingMessage's
export interface EngineRequest extends Request {
  [kRequestConnection]: EngineConnection;
  [kBlock]: HeaderBlock;
  [kOver]: boolean;
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
    this._events = undefined;
    this[kRequestConnection] = connection;
    this[kBlock] = block;
    this[kHeaders] = null;
    this.method = method;
    this.url = url;
    this.httpVersionMajor = 1;
    this.httpVersionMinor = minorVersion;
    this.complete = false;
    this.joinDuplicateHeaders = connection.server.joinDuplicateHeaders;
  }

  get httpVersion(): string {
    return this.httpVersionMinor === 1 ? '1.1' : '1.0';
  }
  set httpVersion(value: string) {
    defineOwn(this, 'httpVersion', value);
  }

  get headers(): IncomingHttpHeaders {
    return (this[kHeaders] ??= headersOf(this, this[kBlock])) as IncomingHttpHeaders;
  }
  set headers(value: IncomingHttpHeaders) {
    this[kHeaders] = value;
  }

  get rawHeaders(): string[] {
    const raw = this[kBlock].raw.slice();
    defineOwn(this, 'rawHeaders', raw);
    return raw;
  }
  set rawHeaders(value: string[]) {
    defineOwn(this, 'rawHeaders', value);
  }

  get socket(): Socket {
    return this[kRequestConnection].socket();
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

  // Express writes this before it replaces the prototypes of both. From then on they live without ours.
  get res(): EngineResponse | undefined {
    return undefined;
  }
  set res(response: EngineResponse | undefined) {
    defineOwn(this, 'res', response);
    standAloneRequest(this);
    if (response?.req === this && Object.hasOwn(this, 'socket')) standAlone(response);
  }

  _read(): void {
    if (!this._consuming) {
      this._readableState.readingMore = false;
      this._consuming = true;
    }
    this[kRequestConnection].readMore();
  }
}

Object.setPrototypeOf(EngineRequest, http.IncomingMessage);
Object.setPrototypeOf(EngineRequest.prototype, http.IncomingMessage.prototype);
defineHidden(EngineRequest.prototype, 'constructor', http.IncomingMessage);
Object.defineProperty(EngineRequest.prototype, kHeadersCount, {
  configurable: true,
  get(this: EngineRequest) {
    return this[kBlock].raw.length;
  },
  set(this: EngineRequest, value: number) {
    defineOwn(this, kHeadersCount, value);
  },
});
// `request.signal` follows the connection from here on, unless the request is answered.
const attachSignal = (http.IncomingMessage.prototype as never as IncomingInternals)[kAttachSignal];
defineHidden(EngineRequest.prototype, kAttachSignal, function attach(this: EngineRequest) {
  if (this[kRequestConnection].owes(this)) attachSignal!.call(this);
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

/** A request with a body: a stream from the start. */
export class BodyRequest extends EngineRequest {
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

/** A request without a body: it becomes a stream when somebody takes it for one. */
export class BodylessRequest extends EngineRequest {
  override get _readableState(): ReadableInternals {
    return becomeStream(this);
  }
  override set _readableState(value: ReadableInternals) {
    defineOwn(this, '_readableState', value);
  }
}
for (const kind of [BodyRequest, BodylessRequest]) {
  defineHidden(kind.prototype, 'constructor', http.IncomingMessage);
}
defineOwn(EngineRequest.prototype, kOver, false);
defineOwn(EngineRequest.prototype, 'upgrade', false);

/** Somebody has taken it for a stream, or it has a body. */
export function isStream(request: Request): boolean {
  return Object.hasOwn(request, '_readableState');
}

/** Gives the request everything of its own: for those who replace its prototype. */
function standAloneRequest(request: EngineRequest): void {
  const { headers, rawHeaders, socket, httpVersion } = request;
  defineOwn(request, 'socket', socket);
  defineOwn(request, 'client', socket);
  defineOwn(request, 'httpVersion', httpVersion);
  defineOwn(request, kHeaders, headers);
  defineOwn(request, kHeadersCount, rawHeaders.length);
  void request._readableState;
  ownDefaults(request, freshIncoming, new Set(['_events', '_eventsCount', '_maxListeners']));
}

function becomeStream(request: BodylessRequest): ReadableInternals {
  makeReadable(request as never);
  const state = request._readableState;
  if (request[kOver]) {
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
  const { highWaterMark } = request[kRequestConnection].server;
  (Readable as unknown as (this: unknown, options: object) => void).call(request, {
    highWaterMark,
  });
  request._readableState.readingMore = true;
}
