import { carriedBy, namesCallerAs } from './named-caller.ts';
import type { CacheRequest } from './cached-route.ts';

/** What the code behind the cache has read of a request while it made a response, beside its URL. */
export class Reads {
  /** In lower case. */
  readonly headers: string[] = [];
  /** Whether all headers were read at once: a loop, a spread, `JSON.stringify`, `rawHeaders`. */
  areHeadersListed = false;
  readonly cookies: string[] = [];
  areCookiesListed = false;
  /** Whether the connection was asked who the client is. */
  isPeerRead = false;
  /** Properties of the request, or of `response.locals`, that something ahead of the cache has set. */
  readonly properties: string[] = [];
}

type Target = Record<PropertyKey, unknown>;

/* While a logger reads the request: what it writes does not become a part of the response. */
let exempt = 0;

/**
 * Runs `work`, such as a logger that writes all headers, without taking what it reads of a request for something that the
 * response depends on. For synchronous work: what an `await` in it continues is observed again.
 */
export function unobserved<Result>(work: () => Result): Result {
  exempt += 1;
  try {
    return work();
  } finally {
    exempt -= 1;
  }
}

/* Of Object.prototype, and what `await`, `JSON.stringify` and `inspect` look for on any object. */
const ofAnyObject: ReadonlySet<PropertyKey> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'then',
  'toJSON',
  'inspect',
]);

/* Own properties that Node, the engine, Express, Fastify, Nest and cookie parsers give each request. */
const ofEachRequest: ReadonlySet<string> = new Set(
  'id params raw query log body res route next baseUrl originalUrl url method httpVersion httpVersionMajor httpVersionMinor complete aborted upgrade socket client connection statusCode statusMessage rawHeaders rawTrailers headers headersDistinct trailers trailersDistinct joinDuplicateHeaders cookies signedCookies secret hosts protocol host hostname stream domain readable startTime'.split(
    ' ',
  ),
);

const ofPeer: ReadonlySet<PropertyKey> = new Set([
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  'authorized',
  'getPeerCertificate',
  'getPeerX509Certificate',
]);

/* Their getters ask for the address to see whether a proxy is to be trusted; what they return is part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

/* A property that was replaced, which costs a tenth of one that is defined and deleted. */
interface Swapped {
  readonly target: Target;
  readonly name: string;
  readonly stand: object;
  readonly before: unknown;
  /** Whether what stood there was the object's own. If not, the prototype has it. */
  readonly isOwn: boolean;
}

/** Watches one request while its response is made; `end` gives it back as it was. */
export class Observation {
  readonly reads: Reads = new Reads();
  readonly #swapped: Swapped[] = [];
  #restores: (() => void)[] | undefined;

  constructor(request: CacheRequest) {
    const own = request as unknown as Target;
    // Nest's middleware has Node's own request on Fastify.
    const raw = (own['raw'] ?? own) as Target;
    const { reads } = this;
    const headers = raw['headers'] as object;
    // A setter of Node and of the engine keeps them.
    this.#swap(raw, 'headers', new Proxy(headers, new HeadersTrap(reads)), headers);
    this.#swap(raw, 'rawHeaders', new Proxy([], new RawHeadersTrap(reads, raw, 'rawHeaders')));
    this.#swap(raw, 'socket', new Proxy({}, new SocketTrap(reads, raw, 'socket')));
    for (const name of ofOrigin) this.#exemptGetter(own, name);
    for (const name of ['cookies', 'signedCookies']) {
      const cookies = own[name];
      if (typeof cookies === 'object' && cookies !== null)
        this.#swap(own, name, new Proxy(cookies, new CookiesTrap(reads)));
    }
    this.#watchProperties(own, 'request');
    if (raw !== own) this.#watchProperties(raw, 'request.raw');
    const { locals } = (own['res'] ?? {}) as { locals?: object };
    if (locals !== undefined) this.#watchProperties(locals as Target, 'response.locals');
  }

  /** To be called once, when the response is made. */
  end(): Reads {
    for (const { target, name, stand, before, isOwn } of this.#swapped) {
      // What the handler has set in its place is its own.
      if (target[name] !== stand) continue;
      if (isOwn || before !== undefined) target[name] = before;
      else delete target[name];
    }
    if (this.#restores !== undefined) for (const restore of this.#restores) restore();
    return this.reads;
  }

  /** @param kept what the prototype's setter is to keep again; undefined where nothing has to be */
  #swap(target: Target, name: string, stand: object, kept?: object): void {
    const isOwn = Object.hasOwn(target, name);
    if (!isOwn && !(name in target)) return;
    const before = isOwn ? target[name] : kept;
    if (Reflect.set(target, name, stand))
      this.#swapped.push({ target, name, stand, before, isOwn });
    // HTTP/2 has getters alone.
    else this.#define(target, name, () => stand);
  }

  #exemptGetter(target: Target, name: string): void {
    if (!(name in target) || Object.hasOwn(target, name)) return;
    const prototype = Object.getPrototypeOf(target) as object;
    this.#define(target, name, () => unobserved(() => Reflect.get(prototype, name, target)));
  }

  #watchProperties(target: Target, of: string): void {
    for (const name of Object.keys(target)) {
      if (ofEachRequest.has(name) || name.startsWith('_') || namesCallerAs(name)) continue;
      const value: unknown = Object.getOwnPropertyDescriptor(target, name)?.value;
      if (typeof value === 'function' || !carriedBy(value)) continue;
      this.#define(target, name, () => {
        if (exempt === 0) this.reads.properties.push(`${of}.${name}`);
        return value;
      });
    }
  }

  #define(target: Target, name: string, get: () => unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name);
    if (before?.configurable === false) return;
    const enumerable = before?.enumerable ?? false;
    const set = (value: unknown): void => {
      const own = { value, enumerable: true, configurable: true, writable: true };
      Object.defineProperty(target, name, own);
    };
    Object.defineProperty(target, name, { get, set, enumerable, configurable: true });
    (this.#restores ??= []).push(() => {
      if (Object.getOwnPropertyDescriptor(target, name)?.get !== get) return;
      if (before === undefined) delete target[name];
      else Object.defineProperty(target, name, before);
    });
  }
}

/* Notes by name what is read of an object of headers or cookies. */
abstract class NamesTrap implements ProxyHandler<object> {
  protected readonly reads: Reads;

  constructor(reads: Reads) {
    this.reads = reads;
  }

  protected abstract note(name: string): void;
  protected abstract noteAll(): void;

  get(target: object, name: PropertyKey): unknown {
    this.#read(name);
    return Reflect.get(target, name);
  }

  has(target: object, name: PropertyKey): boolean {
    this.#read(name);
    return Reflect.has(target, name);
  }

  getOwnPropertyDescriptor(target: object, name: PropertyKey): PropertyDescriptor | undefined {
    this.#read(name);
    return Reflect.getOwnPropertyDescriptor(target, name);
  }

  ownKeys(target: object): (string | symbol)[] {
    if (exempt === 0) this.noteAll();
    return Reflect.ownKeys(target);
  }

  #read(name: PropertyKey): void {
    if (exempt === 0 && typeof name === 'string' && !ofAnyObject.has(name)) this.note(name);
  }
}

class HeadersTrap extends NamesTrap {
  protected note(name: string): void {
    this.reads.headers.push(name.toLowerCase());
  }

  protected noteAll(): void {
    this.reads.areHeadersListed = true;
  }
}

class CookiesTrap extends NamesTrap {
  protected note(name: string): void {
    this.reads.cookies.push(name);
  }

  protected noteAll(): void {
    this.reads.areCookiesListed = true;
  }
}

/* Stands for what the request itself has, or what its prototype makes at the first read. */
abstract class LazyTrap implements ProxyHandler<object> {
  protected readonly reads: Reads;
  readonly #prototype: object;
  readonly #request: object;
  readonly #name: string;
  #real: object | undefined;

  constructor(reads: Reads, request: Target, name: string) {
    this.reads = reads;
    this.#request = request;
    this.#name = name;
    this.#prototype = Object.getPrototypeOf(request) as object;
    if (Object.hasOwn(request, name)) this.#real = request[name] as object;
  }

  protected get real(): object {
    return (this.#real ??= Reflect.get(this.#prototype, this.#name, this.#request) as object);
  }

  protected abstract note(name: PropertyKey): void;

  get(_target: object, name: PropertyKey): unknown {
    if (exempt === 0) this.note(name);
    const value: unknown = Reflect.get(this.real, name, this.real);
    return typeof value === 'function' ? value.bind(this.real) : value;
  }

  set(_target: object, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.real, name, value, this.real);
  }

  has(_target: object, name: PropertyKey): boolean {
    if (exempt === 0) this.note(name);
    return Reflect.has(this.real, name);
  }

  getPrototypeOf(): object | null {
    return Reflect.getPrototypeOf(this.real);
  }

  deleteProperty(_target: object, name: PropertyKey): boolean {
    return Reflect.deleteProperty(this.real, name);
  }
}

class RawHeadersTrap extends LazyTrap {
  protected note(): void {
    this.reads.areHeadersListed = true;
  }

  ownKeys(): (string | symbol)[] {
    if (exempt === 0) this.note();
    return Reflect.ownKeys(this.real);
  }
}

/* The address is the only way in which a response may depend on the connection. */
class SocketTrap extends LazyTrap {
  protected note(name: PropertyKey): void {
    if (ofPeer.has(name)) this.reads.isPeerRead = true;
  }
}
