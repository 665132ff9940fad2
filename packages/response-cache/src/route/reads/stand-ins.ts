type Target = Record<PropertyKey, unknown>;

/** The parts of Node's request that may have a stand-in. */
export interface Parts {
  headers: object;
  rawHeaders: object | undefined;
  socket: object | undefined;
}

/* For a prototype of requests: true if it creates a part at the first read, as the engine's does. Node's have it from the start. */
interface Lazy {
  readonly rawHeaders: boolean;
  readonly socket: boolean;
}
const lazyBy = new WeakMap<object, Lazy>();
/* Nearly all requests of a process have one prototype, and a lookup in a WeakMap costs more than the rest of a stand-in. */
let latest: object | undefined;
let lazyOfLatest: Lazy;

/**
 * Replaces properties of one request with stand-ins, and restores them.
 *
 * Uses assignments that name their property: one that gets the name as a value takes 100 ns, and defining and deleting a
 * property takes ten times as long.
 */
export class StandIns {
  readonly #raw: Parts;
  #headers: object | undefined;
  #ownHeaders: object | undefined;
  #rawHeaders: object | undefined;
  /* Undefined if the prototype has it. */
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

  /** @param make makes the stand-in for the present value; for undefined if the prototype makes that at the first read */
  putRawHeaders(make: (own: object | undefined) => object): void {
    const raw = this.#raw;
    if (!(lazyOf(raw).rawHeaders && !Object.hasOwn(raw, 'rawHeaders'))) {
      this.#ownRawHeaders = raw.rawHeaders;
      if (this.#ownRawHeaders === undefined) return;
    }
    const stand = (this.#rawHeaders = make(this.#ownRawHeaders));
    try {
      raw.rawHeaders = stand;
    } catch {}
    if (raw.rawHeaders !== stand) this.define(raw as unknown as Target, 'rawHeaders', () => stand);
  }

  /** Same as `putRawHeaders`, for the socket. */
  putSocket(make: (own: object | undefined) => object): void {
    const raw = this.#raw;
    if (!(lazyOf(raw).socket && !Object.hasOwn(raw, 'socket'))) {
      this.#ownSocket = raw.socket;
      if (this.#ownSocket === undefined) return;
    }
    const stand = (this.#socket = make(this.#ownSocket));
    try {
      raw.socket = stand;
    } catch {}
    if (raw.socket !== stand) this.define(raw as unknown as Target, 'socket', () => stand);
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
   * Adds a property in front of the one that `target` inherits, and removes it in the end: V8 then returns the object to the hidden
   * class it had before. If something else was added since, removal would turn the object into a table, and what is inherited stays as
   * an own property.
   */
  lend(target: Target, name: string, stand: unknown): void {
    const inherited = target[name];
    target[name] = stand;
    const count = Reflect.ownKeys(target).length;
    (this.#restores ??= []).push(() => {
      if (target[name] !== stand) return;
      if (Reflect.ownKeys(target).length === count) delete target[name];
      else target[name] = inherited;
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
    if (this.#restores !== undefined) for (const restore of this.#restores) restore();
    const raw = this.#raw;
    // The last first: deleting the property that was added last leaves an object fast, any other turns it into a table.
    if (this.#socket !== undefined && raw.socket === this.#socket) {
      if (this.#ownSocket === undefined) delete (raw as Partial<Parts>).socket;
      else raw.socket = this.#ownSocket;
    }
    if (this.#rawHeaders !== undefined && raw.rawHeaders === this.#rawHeaders) {
      if (this.#ownRawHeaders === undefined) delete (raw as Partial<Parts>).rawHeaders;
      else raw.rawHeaders = this.#ownRawHeaders;
    }
    // Assigned, because a setter of Node and of the engine keeps the headers.
    if (this.#headers !== undefined && raw.headers === this.#headers)
      raw.headers = this.#ownHeaders!;
  }
}

function lazyOf(raw: object): Lazy {
  const prototype = Object.getPrototypeOf(raw) as object;
  if (prototype === latest) return lazyOfLatest;
  let lazy = lazyBy.get(prototype);
  if (lazy === undefined) {
    lazy = { rawHeaders: 'rawHeaders' in prototype, socket: 'socket' in prototype };
    lazyBy.set(prototype, lazy);
  }
  latest = prototype;
  return (lazyOfLatest = lazy);
}
