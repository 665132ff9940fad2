import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { credentialHeaders } from './credential-headers.ts';
import { readerOf, type Reader } from './reader-of.ts';
import { isObserved, Reads } from './reads.ts';
import { StandIns } from './stand-ins.ts';
import { HeadersTrap, RawHeadersTrap } from './traps.ts';

/* Requests of which what runs ahead of the cache is seen, from the start of each route. */
const fromStart = 32;
/* Productions of a route that are preceded by a watched request, if it is theirs; later one of so many. */
const firstOnes = 8;
const oneOf = 1_024;
/* A path that is wanted and never asked for again must not stay forever. */
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
/* Paths whose next request has to be watched: a response to the last was not kept, because what ran ahead of it is unknown. */
const wanted = new Map<string, AheadOfRoute>();
const watches = new WeakMap<object, AheadWatch>();

/** Watches so many of the next requests. While nothing is to be watched, nothing listens, so that no request pays for it. */
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

/** Called where a route is defined: its first request has to be watched from its start. */
export function expectRoute(): void {
  watchNext(fromStart);
}

/** How much of what runs ahead of a route has been seen. */
export class AheadOfRoute {
  /** Productions of which all reads were seen. */
  #seen = 0;
  #unseen = 0;

  constructor(isWatched: boolean) {
    if (!isWatched) return;
    left += fromStart;
    listen();
  }

  /** Whether no request of the route was watched so far. */
  get isUnseen(): boolean {
    return this.#seen === 0;
  }

  /**
   * What ran ahead of the cache has read of this request; `'unknown'` where that could have been seen and was not, and never was
   * for this route; undefined where nothing new is to be learned.
   *
   * @param isToBeKnown whether a response is kept only once that was seen
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
    if (this.#seen < firstOnes || this.#unseen % oneOf === 0) watchNext(1);
    return undefined;
  }
}

/* Requests of HTTP/2, and those that a test injects, are not published. */
function isOfServer(raw: IncomingMessage): boolean {
  if (!hasHeard || raw.httpVersionMajor !== 1) return false;
  return (raw.socket as { server?: unknown } | undefined)?.server !== undefined;
}

type Wholesale = 'all headers' | 'the address of the client';

/** What middleware, hooks, guards and constructors have read, and which of them. */
export class AheadReads extends Reads {
  /** Of each header, in lower case, the first one outside of the framework that has read it. */
  readonly readers: Map<string, Reader> = new Map();
  /** By whom all headers were read at once, or the address of the client. */
  readonly wholesale: Map<Wholesale, Reader> = new Map();

  /* Of a list, such as a copy for a log, each value is read once: that is not a read by name. */
  readonly #inList = new Set<string>();

  /* Once the cache has been reached: whoever has kept `headers` of then reads for the handler. */
  #later: Reads | undefined;

  /** What is read of kept headers from now on is read by the handler. */
  passTo(reads: Reads): void {
    this.#later = reads;
  }

  override noteHeader(name: string, isValue: boolean): void {
    if (this.#later !== undefined) return this.#later.noteHeader(name, isValue);
    const isInList = isValue ? this.#inList.delete(name) : this.#inList.has(name);
    if (this.readers.has(name) || isUninteresting.has(name)) return;
    const reader = readerOf();
    if (reader === undefined) return;
    if (isInList && reader.name === this.wholesale.get('all headers')?.name) return;
    this.readers.set(name, reader);
    if (reader.isOfHandler) super.noteHeader(name, isValue);
  }

  override noteAllHeaders(headers: object = {}): void {
    if (this.#later !== undefined) return this.#later.noteAllHeaders(headers);
    for (const name of Object.keys(headers)) this.#inList.add(name);
    this.#noteWhole('all headers', () => super.noteAllHeaders(headers));
  }

  override notePeer(): void {
    this.#noteWhole('the address of the client', () => super.notePeer());
  }

  #noteWhole(what: Wholesale, noteAsHandler: () => void): void {
    if (this.wholesale.has(what)) return;
    const reader = readerOf();
    if (reader === undefined) return;
    this.wholesale.set(what, reader);
    if (reader.isOfHandler) noteAsHandler();
  }
}

/* The cache itself looks at them on each request; a request that has one of them is not shared. */
const isUninteresting: ReadonlySet<string> = new Set([
  ...credentialHeaders,
  'host',
  'connection',
  'expect',
  'upgrade',
  'content-length',
  'content-type',
  'transfer-encoding',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'forwarded',
]);

/* Watches one request from its arrival until the cache, or the end of its response. */
class AheadWatch {
  readonly #reads = new AheadReads();
  readonly #standIns: StandIns;

  constructor(request: IncomingMessage) {
    const reads = this.#reads;
    this.#standIns = new StandIns(request);
    this.#standIns.putHeaders((headers) => new Proxy(headers, new HeadersTrap(reads)));
    this.#standIns.putRawHeaders(
      (list) => new Proxy([], new RawHeadersTrap(reads, request, 'rawHeaders', list)),
    );
    this.#watchPeer(request.socket as object | undefined);
  }

  /** Called at the cache, and again when the response is sent. */
  end(): AheadReads {
    this.#standIns.giveBack();
    return this.#reads;
  }

  /* By a property of this socket alone: a stand-in would not be the socket that libraries have in their tables. */
  #watchPeer(socket: object | undefined): void {
    const name = 'remoteAddress';
    if (socket === undefined || !(name in socket) || Object.hasOwn(socket, name)) return;
    const prototype = Object.getPrototypeOf(socket) as object;
    this.#standIns.define(socket as Record<string, unknown>, name, () => {
      if (isObserved()) this.#reads.notePeer();
      return Reflect.get(prototype, name, socket);
    });
  }
}
