import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { credentialHeaders, readerOf, type Reader, isObserved, Reads } from './reads.ts';
import { StandIns } from './stand-ins.ts';
import { HeadersTrap, RawHeadersTrap } from './traps.ts';

/* Requests that are watched from their arrival when a route is defined. */
const fromStart = 32;
/* The first responses of a route are made for watched requests; later one of so many is. */
const firstOnes = 8;
const oneOf = 1_024;
/* Min time between two of the later ones: V8 discards the code of Node's HTTP parser when its channel gains or loses a subscriber. */
const restMs = 10_000;
/* Bounds the paths that wait for a request which may never come. */
const maxWanted = 1_000;

/* Node and the engine of `@redline/http` publish each request here, ahead of everything that an app does with it. */
const starts = channel('http.server.request.start');

interface Started {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

let left = 0;
let isListening = false;
let hasHeard = false;
/* Paths whose next request has to be watched: the last response was not kept, because the reads ahead of the cache are unknown. */
const wanted = new Map<string, AheadOfRoute>();
const watches = new WeakMap<object, AheadWatch>();

/** Watches the next requests. The channel has no subscriber in between, so requests cost nothing then. */
function watchNext(count: number): void {
  left = Math.max(left, count);
  listen();
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  starts.subscribe(onStart);
}

function onStart(message: unknown): void {
  hasHeard = true;
  const { request, response } = message as Started;
  const isWanted = wanted.size > 0 && wanted.delete(pathOf(request));
  if (left > 0) left -= 1;
  else if (!isWanted) return;
  if (left === 0 && wanted.size === 0) {
    starts.unsubscribe(onStart);
    isListening = false;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return;
  const watch = new AheadWatch(request);
  watches.set(request, watch);
  response.once('close', () => void watch.end());
}

function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Watches the first requests of a route that is being defined. */
export function expectRoute(): void {
  watchNext(fromStart);
}

/** The watched requests of one route. */
export class AheadOfRoute {
  /** Responses of which all reads were seen. */
  #seen = 0;
  #unseen = 0;
  #lastLookMs = 0;

  constructor(isWatched: boolean) {
    if (!isWatched) return;
    left += fromStart;
    listen();
  }

  /** True until a request of the route was watched. */
  get isUnseen(): boolean {
    return this.#seen === 0;
  }

  /**
   * Returns the reads of this request ahead of the cache; `'unknown'` if none of the route's requests was watched yet, although
   * they can be; undefined if this one was not watched.
   *
   * @param isToBeKnown true if a response may be kept only after a request of the route was watched
   */
  take(request: object, isToBeKnown: boolean): AheadReads | 'unknown' | undefined {
    const raw = ((request as { raw?: object }).raw ?? request) as IncomingMessage;
    const watch = watches.get(raw);
    if (watch !== undefined) {
      this.#seen += 1;
      if (this.#seen === 1) for (const [path, of] of wanted) if (of === this) wanted.delete(path);
      if (this.#seen < firstOnes) watchNext(1);
      return watch.end();
    }
    this.#unseen += 1;
    if (isToBeKnown && this.#seen === 0 && isOfServer(raw)) {
      if (wanted.size === maxWanted) wanted.clear();
      wanted.set(pathOf(raw), this);
      // Paths with an id in them may never come again.
      watchNext(1);
      return 'unknown';
    }
    if (this.#seen < firstOnes || (this.#unseen % oneOf === 0 && this.#hasRested())) watchNext(1);
    return undefined;
  }

  #hasRested(): boolean {
    const now = performance.now();
    if (this.#lastLookMs !== 0 && now - this.#lastLookMs < restMs) return false;
    this.#lastLookMs = now;
    return true;
  }
}

/* Requests of HTTP/2 and injected requests are not published on the channel. */
function isOfServer(raw: IncomingMessage): boolean {
  if (!hasHeard || raw.httpVersionMajor !== 1) return false;
  return (raw.socket as { server?: unknown } | undefined)?.server !== undefined;
}

type Wholesale = 'all headers' | 'the address of the client';

/** The reads of middleware, hooks, guards and constructors, with their readers. */
export class AheadReads extends Reads {
  /** The reader outside of the framework that counts most, by header name in lower case. */
  readonly readers: Map<string, Reader> = new Map();
  /** As `readers`, of all headers at once and of the client's address. */
  readonly wholesale: Map<Wholesale, Reader> = new Map();

  #listing: Listing | undefined;

  /* Set at the cache: later reads of a `headers` object that was kept are the handler's. */
  #later: Reads | undefined;

  /** Counts later reads of kept headers as the handler's. */
  passTo(reads: Reads): void {
    this.#later = reads;
  }

  override noteHeader(name: string, isValue: boolean): void {
    if (this.#later !== undefined) return this.#later.noteHeader(name, isValue);
    const listing = this.#listing?.takes(name, isValue) === true ? this.#listing : undefined;
    if (this.readers.get(name)?.isOfHandler || isUninteresting.has(name)) return;
    const reader = readerOf();
    if (reader === undefined) return;
    if (listing !== undefined && reader.name === this.wholesale.get('all headers')?.name) {
      if (isValue) listing.values.set(name, reader);
    } else {
      this.record(name, reader);
    }
  }

  /** Notes a read by name. */
  record(name: string, reader: Reader): void {
    const known = this.readers.get(name);
    if (known === undefined || weightOf(reader) > weightOf(known)) this.readers.set(name, reader);
    if (reader.isOfHandler) super.noteHeader(name, true);
  }

  override noteAllHeaders(headers: object = {}): void {
    if (this.#later !== undefined) return this.#later.noteAllHeaders(headers);
    this.#endListing();
    this.#listing = new Listing(Object.keys(headers));
    // A copy is made at once.
    queueMicrotask(() => this.#endListing());
    this.#noteWhole('all headers', () => super.noteAllHeaders(headers));
  }

  #endListing(): void {
    const listing = this.#listing;
    this.#listing = undefined;
    if (listing === undefined || listing.isComplete()) return;
    for (const [name, reader] of listing.values) this.record(name, reader);
  }

  override notePeer(): void {
    this.#noteWhole('the address of the client', () => super.notePeer());
  }

  #noteWhole(what: Wholesale, noteAsHandler: () => void): void {
    const known = this.wholesale.get(what);
    if (known?.isOfHandler) return;
    const reader = readerOf();
    if (reader === undefined) return;
    if (known === undefined || weightOf(reader) > weightOf(known)) this.wholesale.set(what, reader);
    if (reader.isOfHandler) noteAsHandler();
  }
}

/* A name that a tracer reads may be read again by code whose read counts. */
function weightOf({ isOfHandler, isObserver }: Reader): number {
  if (isOfHandler) return 2;
  return isObserver ? 0 : 1;
}

/* Logs leave them out of a copy. */
const isRedacted: ReadonlySet<string> = new Set([...credentialHeaders, 'cookie']);

/*
 * All headers at once, such as a copy for a log: each value is read once, in order, and is not read by name. Reads out of order are,
 * and so are all if some are missing, except for credentials, which logs leave out.
 */
class Listing {
  /** The readers of its values, by header name. */
  readonly values: Map<string, Reader> = new Map();
  readonly #names: readonly string[];
  #nextValue = 0;
  #nextCheck = 0;

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  isComplete(): boolean {
    return this.#names.slice(this.#nextValue).every((name) => isRedacted.has(name));
  }

  /** Returns true if the read may belong to the listing. */
  takes(name: string, isValue: boolean): boolean {
    if (!isValue) {
      if (this.#names[this.#nextCheck] === name) this.#nextCheck += 1;
      else if (this.#names[this.#nextValue] !== name) return false;
      return true;
    }
    let at = this.#nextValue;
    while (at < this.#names.length && this.#names[at] !== name && isRedacted.has(this.#names[at]!))
      at += 1;
    if (this.#names[at] !== name) return false;
    this.#nextValue = at + 1;
    return true;
  }
}

/* The cache itself checks these on each request; a request with one of the credentials is not shared. */
const isUninteresting: ReadonlySet<string> = new Set([
  ...credentialHeaders,
  'host',
  'connection',
  'expect',
  'upgrade',
  'content-length',
  'transfer-encoding',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
]);

/* Node's sockets ask their handle for the address of the peer, once. */
interface PeerSocket extends Record<PropertyKey, unknown> {
  _peername?: Address;
  _getpeername?: unknown;
  _handle?: (Record<PropertyKey, unknown> & { getpeername?(into: Address): number }) | null;
}

type Address = Record<PropertyKey, unknown>;

const ofAddress = ['address', 'port', 'family'] as const;
const ofSocket = ['remoteAddress', 'remotePort', 'remoteFamily'] as const;
const ofCertificate = ['getPeerCertificate', 'getPeerX509Certificate'] as const;

const peerWatches = new WeakMap<object, PeerWatch>();

/*
 * Watches one connection for all of its watched requests, of which there are several at once with pipelining. Libraries use the socket
 * as a key of their tables, so no stand-in can take its place. An accessor of its own makes V8 keep the socket as a table, which slows
 * down all later requests of the connection: Node's sockets get one only if they have a property or a certificate of their own.
 */
class PeerWatch {
  readonly #readers = new Set<AheadReads>();
  readonly #socket: PeerSocket;
  readonly #standIns: StandIns;

  constructor(socket: PeerSocket) {
    this.#socket = socket;
    this.#standIns = new StandIns(socket);
    const own = ofSocket.filter((name) => Object.hasOwn(socket, name));
    if (typeof socket._getpeername === 'function') this.#watchAddressOf(socket);
    else own.splice(0, own.length, ...ofSocket.filter((name) => name in socket));
    for (const name of own) this.#watchProperty(socket, name);
    for (const name of ofCertificate)
      if (typeof socket[name] === 'function') this.#watchProperty(socket, name);
  }

  add(reads: AheadReads): void {
    this.#readers.add(reads);
  }

  delete(reads: AheadReads): void {
    if (!this.#readers.delete(reads) || this.#readers.size > 0) return;
    peerWatches.delete(this.#socket);
    this.#standIns.restore();
  }

  #watchAddressOf({ _peername: kept, _handle: handle }: PeerSocket): void {
    const own = handle?.getpeername;
    if (kept !== undefined) {
      this.#watchAddress(kept);
    } else if (typeof own === 'function') {
      this.#standIns.lend(handle!, 'getpeername', (into: Address) => {
        const code = own.call(handle, into);
        this.#watchAddress(into);
        return code;
      });
    }
  }

  /* A Unix socket has no address. */
  #watchAddress(peer: Address): void {
    for (const name of ofAddress) if (peer[name] !== undefined) this.#watchProperty(peer, name);
  }

  #watchProperty(target: Record<PropertyKey, unknown>, name: string): void {
    const { get, value } = Object.getOwnPropertyDescriptor(target, name) ?? {};
    const prototype = Object.getPrototypeOf(target) as object;
    const isOwn = Object.hasOwn(target, name);
    this.#standIns.define(target, name, () => {
      if (isObserved()) for (const reads of this.#readers) reads.notePeer();
      if (!isOwn) return Reflect.get(prototype, name, target);
      return get === undefined ? (value as unknown) : Reflect.apply(get, target, []);
    });
  }
}

/** Returns the watch of a connection, to which `reads` is added. */
export function watchPeer(
  socket: PeerSocket | undefined,
  reads: AheadReads,
): PeerWatch | undefined {
  if (socket === undefined) return undefined;
  let watch = peerWatches.get(socket);
  if (watch === undefined) peerWatches.set(socket, (watch = new PeerWatch(socket)));
  watch.add(reads);
  return watch;
}

/* Watches one request from its arrival to the cache, or to the end of its response. */
class AheadWatch {
  readonly #reads = new AheadReads();
  readonly #standIns: StandIns;
  readonly #peer: PeerWatch | undefined;

  constructor(request: IncomingMessage) {
    const reads = this.#reads;
    this.#standIns = new StandIns(request);
    this.#standIns.putHeaders((headers) => new Proxy(headers, new HeadersTrap(reads)));
    this.#standIns.putRawHeaders(
      (list) => new Proxy([], new RawHeadersTrap(reads, request, 'rawHeaders', list)),
    );
    this.#peer = watchPeer(request.socket as unknown as PeerSocket | undefined, reads);
  }

  /** Called at the cache, and again when the response is sent. */
  end(): AheadReads {
    this.#standIns.restore();
    this.#peer?.delete(this.#reads);
    return this.#reads;
  }
}
