import { lazyOf, type Lazy, type LazyPart, type LazyParts } from './lazy-parts.ts';

type Target = Record<PropertyKey, unknown>;

/** The parts of Node's request that may have a stand-in. */
export interface Parts {
  headers: object;
  rawHeaders: object | undefined;
  socket: object | undefined;
}

/** A part as the request has it, or a function that has the prototype of the request make it. */
type Part = object | (() => object);

/**
 * Replaces properties of one request with stand-ins, and restores them.
 *
 * Uses assignments that name their property: one that gets the name as a value takes 100 ns, and defining and deleting a
 * property takes ten times as long.
 */
export class StandIns {
  readonly #raw: Parts;
  #lazy: Lazy | undefined;
  #lazyParts: LazyParts | undefined;
  #headers: object | undefined;
  #ownHeaders: object | undefined;
  #rawHeaders: object | undefined;
  #ownRawHeaders: object | undefined;
  #socket: object | undefined;
  #ownSocket: object | undefined;
  #restores: (() => void)[] | undefined;

  constructor(raw: object) {
    this.#raw = raw as Parts;
  }

  /** @param make makes the stand-in for the present value */
  putHeaders(make: (own: object) => object): void {
    const raw = this.#raw;
    const own = raw.headers;
    this.#ownHeaders = own;
    const stand = (this.#headers = make(own));
    // HTTP/2 has only getters.
    try {
      raw.headers = stand;
    } catch {}
    if (raw.headers !== stand) this.define(raw as unknown as Target, 'headers', () => stand);
  }

  /** @param make makes the stand-in for the present value */
  putRawHeaders(make: (own: Part) => object): void {
    const raw = this.#raw;
    if (this.#isLazy('rawHeaders')) return this.#putLazy('rawHeaders', make);
    const own = raw.rawHeaders;
    if (own === undefined) return;
    this.#ownRawHeaders = own;
    const stand = (this.#rawHeaders = make(own));
    try {
      raw.rawHeaders = stand;
    } catch {}
    if (raw.rawHeaders !== stand) this.define(raw as unknown as Target, 'rawHeaders', () => stand);
  }

  /** Same as `putRawHeaders`, for the socket. */
  putSocket(make: (own: Part) => object): void {
    const raw = this.#raw;
    if (this.#isLazy('socket')) return this.#putLazy('socket', make);
    const own = raw.socket;
    if (own === undefined) return;
    this.#ownSocket = own;
    const stand = (this.#socket = make(own));
    try {
      raw.socket = stand;
    } catch {}
    if (raw.socket !== stand) this.define(raw as unknown as Target, 'socket', () => stand);
  }

  #isLazy(name: LazyPart): boolean {
    this.#lazy ??= lazyOf(Object.getPrototypeOf(this.#raw) as object);
    return this.#lazy[name] && !Object.hasOwn(this.#raw, name);
  }

  #putLazy(name: LazyPart, make: (own: Part) => object): void {
    const raw = this.#raw;
    const { prototype, shim, standIns } = this.#lazy!;
    const stand = make(() => Reflect.get(prototype, name, raw) as object);
    const parts = this.#lazyParts;
    if (parts !== undefined) {
      parts[name] = stand;
      return;
    }
    standIns.set(raw, (this.#lazyParts = { [name]: stand }));
    this.putPrototype(raw, () => shim);
    this.#restores?.push(() => void standIns.delete(raw));
  }

  /** Replaces an own property of `target` that something ahead of the cache has assigned. */
  put(target: Target, name: string, stand: object): void {
    const own = target[name];
    if (Object.hasOwn(target, name)) {
      try {
        target[name] = stand;
      } catch {}
    }
    if (target[name] !== stand) return this.define(target, name, () => stand);
    (this.#restores ??= []).push(() => {
      if (target[name] === stand) target[name] = own;
    });
  }

  /**
   * Puts an object between `target` and its prototype, and takes it away in the end: `target` then has the hidden class it had before.
   * A property of its own that is deleted again would leave it a table, and V8 reads the properties of all its like more slowly once
   * it has met one.
   *
   * @param make returns that object for the present prototype
   */
  putPrototype(target: object, make: (prototype: object) => object): void {
    const own = Object.getPrototypeOf(target) as object | null;
    if (own === null) return;
    const shim = make(own);
    if (!Reflect.setPrototypeOf(target, shim)) return;
    (this.#restores ??= []).push(() => {
      if (Object.getPrototypeOf(target) === shim) Object.setPrototypeOf(target, own);
    });
  }

  define(target: Target, name: PropertyKey, get: () => unknown): void {
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

  /** Restores the properties. A value that the app itself has set in place of a stand-in stays. */
  restore(): void {
    const restores = this.#restores;
    // Only once: a shim is shared, and may be that of a later observation of the same request.
    this.#restores = undefined;
    // The last first: prototypes are put one in front of another.
    for (const restore of restores?.toReversed() ?? []) restore();
    const raw = this.#raw;
    if (this.#socket !== undefined && raw.socket === this.#socket) raw.socket = this.#ownSocket;
    if (this.#rawHeaders !== undefined && raw.rawHeaders === this.#rawHeaders)
      raw.rawHeaders = this.#ownRawHeaders;
    // Assigned, because a setter of Node and of the engine keeps the headers.
    if (this.#headers !== undefined && raw.headers === this.#headers)
      raw.headers = this.#ownHeaders!;
  }
}
