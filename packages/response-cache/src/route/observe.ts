import { carriedBy, namesCallerAs } from './named-caller.ts';
import type { CacheRequest } from './cached-route.ts';

/** What the code behind the cache has read of a request while it made a response, beside its URL. */
export interface Reads {
  /** In lower case. */
  readonly headers: Set<string>;
  /** Whether all headers were read at once: a loop, a spread, `JSON.stringify`, `rawHeaders`. */
  areHeadersListed: boolean;
  readonly cookies: Set<string>;
  areCookiesListed: boolean;
  /** Whether the connection was asked who the client is. */
  isPeerRead: boolean;
  /** Properties of the request, or of `response.locals`, that something ahead of the cache has set. */
  readonly properties: Set<string>;
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
  'id params raw query log body res route next baseUrl originalUrl url method httpVersion httpVersionMajor httpVersionMinor complete aborted upgrade socket client connection statusCode statusMessage rawHeaders rawTrailers headers headersDistinct trailers trailersDistinct joinDuplicateHeaders cookies signedCookies secret hosts stream domain readable startTime'.split(
    ' ',
  ),
);

/* Their getters ask for the address to see whether a proxy is to be trusted; what they return is part of the key. */
const ofOrigin = ['protocol', 'host', 'hostname'] as const;

const ofPeer: ReadonlySet<PropertyKey> = new Set([
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  'authorized',
  'getPeerCertificate',
  'getPeerX509Certificate',
]);

/** Watches one request while its response is made; `end` gives it back as it was. */
export class Observation {
  readonly reads: Reads = {
    headers: new Set(),
    areHeadersListed: false,
    cookies: new Set(),
    areCookiesListed: false,
    isPeerRead: false,
    properties: new Set(),
  };
  readonly #restores: (() => void)[] = [];

  constructor(request: CacheRequest) {
    const own = request as unknown as Target;
    // Nest's middleware has Node's own request on Fastify.
    const raw = (own['raw'] ?? own) as Target;
    const { headers } = request;
    this.#shade(
      raw,
      'headers',
      new Proxy(headers, new ListTrap(this.#noteHeader, this.#noteHeaders)),
    );
    this.#shadeLater(raw, 'rawHeaders', this.#noteHeaders);
    this.#shadeLater(raw, 'headersDistinct', this.#noteHeaders);
    this.#shadeSocket(raw);
    for (const name of ofOrigin) this.#shadeGetter(own, name);
    for (const name of ['cookies', 'signedCookies']) {
      const cookies = own[name];
      if (typeof cookies !== 'object' || cookies === null) continue;
      this.#shade(own, name, new Proxy(cookies, new ListTrap(this.#noteCookie, this.#noteCookies)));
    }
    this.#shadeProperties(own, 'request');
    if (raw !== own) this.#shadeProperties(raw, 'request.raw');
    const { locals } = (own['res'] ?? {}) as { locals?: object };
    if (locals !== undefined) this.#shadeProperties(locals as Target, 'response.locals');
  }

  /** To be called once, when the response is made. */
  end(): Reads {
    for (const restore of this.#restores) restore();
    return this.reads;
  }

  readonly #noteHeader = (name: string): void => void this.reads.headers.add(name.toLowerCase());
  readonly #noteHeaders = (): void => void (this.reads.areHeadersListed = true);
  readonly #noteCookie = (name: string): void => void this.reads.cookies.add(name);
  readonly #noteCookies = (): void => void (this.reads.areCookiesListed = true);

  #shade(target: Target, name: string, stand: unknown): void {
    this.#define(target, name, () => stand);
  }

  /* As #shade, of what is costly to have. */
  #shadeLater(target: Target, name: string, note: () => void): void {
    if (!(name in target)) return;
    const before = Object.getOwnPropertyDescriptor(target, name);
    this.#define(target, name, () => {
      if (exempt === 0) note();
      return before === undefined || !('value' in before)
        ? Reflect.get(Object.getPrototypeOf(target) as object, name, target)
        : before.value;
    });
  }

  #shadeGetter(target: Target, name: string): void {
    if (!(name in target) || Object.hasOwn(target, name)) return;
    const prototype = Object.getPrototypeOf(target) as object;
    this.#define(target, name, () => unobserved(() => Reflect.get(prototype, name, target)));
  }

  /* The address is the only way in which a response may depend on the connection. Methods run on the socket itself. */
  #shadeSocket(raw: Target): void {
    const before = Object.getOwnPropertyDescriptor(raw, 'socket');
    let stand: object | undefined;
    const reads = this.reads;
    this.#define(raw, 'socket', () => {
      if (stand !== undefined) return stand;
      const socket: unknown =
        before !== undefined && 'value' in before
          ? before.value
          : Reflect.get(Object.getPrototypeOf(raw) as object, 'socket', raw);
      if (typeof socket !== 'object' || socket === null) return socket;
      stand = new Proxy(socket, {
        get(target, name): unknown {
          if (exempt === 0 && ofPeer.has(name)) reads.isPeerRead = true;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
        set: (target, name, value) => Reflect.set(target, name, value, target),
      });
      return stand;
    });
  }

  #shadeProperties(target: Target, of: string): void {
    for (const name of Object.keys(target)) {
      if (name.startsWith('_') || ofEachRequest.has(name) || namesCallerAs(name)) continue;
      const descriptor = Object.getOwnPropertyDescriptor(target, name);
      const value: unknown = descriptor?.value;
      if (!carriedBy(value) || typeof value === 'function') continue;
      this.#define(target, name, () => {
        if (exempt === 0) this.reads.properties.add(`${of}.${name}`);
        return value;
      });
    }
  }

  #define(target: Target, name: string, get: () => unknown): void {
    const before = Object.getOwnPropertyDescriptor(target, name);
    if (before?.configurable === false) return;
    const enumerable = before?.enumerable ?? false;
    // What the handler sets is its own.
    const set = (value: unknown): void => {
      Object.defineProperty(target, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    };
    Object.defineProperty(target, name, { get, set, enumerable, configurable: true });
    this.#restores.push(() => {
      if (Object.getOwnPropertyDescriptor(target, name)?.get !== get) return;
      if (before === undefined) delete target[name];
      else Object.defineProperty(target, name, before);
    });
  }
}

/* Notes by name what is read of an object of headers or cookies. */
class ListTrap implements ProxyHandler<object> {
  readonly #note: (name: string) => void;
  readonly #noteAll: () => void;

  constructor(note: (name: string) => void, noteAll: () => void) {
    this.#note = note;
    this.#noteAll = noteAll;
  }

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
    if (exempt === 0) this.#noteAll();
    return Reflect.ownKeys(target);
  }

  #read(name: PropertyKey): void {
    if (exempt === 0 && typeof name === 'string' && !ofAnyObject.has(name)) this.#note(name);
  }
}
