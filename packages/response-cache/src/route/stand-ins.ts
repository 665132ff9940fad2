type Target = Record<PropertyKey, unknown>;

/** The parts of Node's request for which something may stand. */
export interface Parts {
  headers: object;
  rawHeaders: object | undefined;
  socket: object | undefined;
}

/* By the prototype of requests: whether it makes a part at its first read, as the engine's does. Node's requests have it from the start. */
interface Lazy {
  readonly rawHeaders: boolean;
  readonly socket: boolean;
}
const lazyBy = new WeakMap<object, Lazy>();

/**
 * Puts stand-ins in the place of properties of one request, and gives it back as it was.
 *
 * By assignments that name their property: one that is given its name takes 100 ns, and to define and delete ten times as much.
 */
export class StandIns {
  readonly #raw: Parts;
  #headers: object | undefined;
  #ownHeaders: object | undefined;
  #rawHeaders: object | undefined;
  /* Undefined where the prototype has it. */
  #ownRawHeaders: object | undefined;
  #socket: object | undefined;
  #ownSocket: object | undefined;
  #restores: (() => void)[] | undefined;

  constructor(raw: object) {
    this.#raw = raw as Parts;
  }

  /** @param make makes the stand-in of what is there */
  putHeaders(make: (own: object) => object): void {
    const raw = this.#raw;
    const own = raw.headers;
    this.#ownHeaders = own;
    const stand = (this.#headers = make(own));
    // HTTP/2 has getters alone.
    try {
      raw.headers = stand;
    } catch {}
    if (raw.headers !== stand) this.define(raw as unknown as Target, 'headers', () => stand);
  }

  /** @param make makes the stand-in of what is there; of undefined where the prototype makes it at the first read */
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

  /** As `putRawHeaders`. */
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

  /** Where `target` itself has `name`, which something ahead of the cache has assigned. */
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

  /** What the app itself has set in the place of a stand-in stays. */
  giveBack(): void {
    if (this.#restores !== undefined) for (const restore of this.#restores) restore();
    const raw = this.#raw;
    // The last first: to delete the property that was added last leaves an object fast, any other makes a table of it.
    if (this.#socket !== undefined && raw.socket === this.#socket) {
      if (this.#ownSocket === undefined) delete (raw as Partial<Parts>).socket;
      else raw.socket = this.#ownSocket;
    }
    if (this.#rawHeaders !== undefined && raw.rawHeaders === this.#rawHeaders) {
      if (this.#ownRawHeaders === undefined) delete (raw as Partial<Parts>).rawHeaders;
      else raw.rawHeaders = this.#ownRawHeaders;
    }
    // A setter of Node and of the engine keeps them.
    if (this.#headers !== undefined && raw.headers === this.#headers)
      raw.headers = this.#ownHeaders!;
  }
}

function lazyOf(raw: object): Lazy {
  const prototype = Object.getPrototypeOf(raw) as object;
  let lazy = lazyBy.get(prototype);
  if (lazy === undefined)
    lazyBy.set(
      prototype,
      (lazy = { rawHeaders: 'rawHeaders' in prototype, socket: 'socket' in prototype }),
    );
  return lazy;
}
