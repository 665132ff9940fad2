import { isObserved, type Reads } from './reads.ts';

/* The names of Object.prototype, and those that `await`, `JSON.stringify` and `inspect` look up on any object. */
const ofAnyObject: ReadonlySet<PropertyKey> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  'then',
  'toJSON',
  'inspect',
]);

const ofPeer: ReadonlySet<PropertyKey> = new Set([
  'remoteAddress',
  'remotePort',
  'remoteFamily',
  '_getpeername',
  '_peername',
  '_handle',
  'authorized',
  'getPeerCertificate',
  'getPeerX509Certificate',
]);

/* Records the names that are read of an object of headers or cookies. */
abstract class NamesTrap implements ProxyHandler<object> {
  protected readonly reads: Reads;

  constructor(reads: Reads) {
    this.reads = reads;
  }

  /** @param isValue true if the value is read, false if only its presence is checked */
  protected abstract note(name: string, isValue: boolean): void;
  protected abstract noteAll(target: object): void;

  get(target: object, name: PropertyKey): unknown {
    this.#read(name, true);
    return Reflect.get(target, name);
  }

  has(target: object, name: PropertyKey): boolean {
    this.#read(name, false);
    return Reflect.has(target, name);
  }

  getOwnPropertyDescriptor(target: object, name: PropertyKey): PropertyDescriptor | undefined {
    this.#read(name, false);
    return Reflect.getOwnPropertyDescriptor(target, name);
  }

  ownKeys(target: object): (string | symbol)[] {
    if (isObserved()) this.noteAll(target);
    return Reflect.ownKeys(target);
  }

  #read(name: PropertyKey, isValue: boolean): void {
    if (isObserved() && typeof name === 'string' && !ofAnyObject.has(name))
      this.note(name, isValue);
  }
}

/** Stands for `headers`. */
export class HeadersTrap extends NamesTrap {
  protected note(name: string, isValue: boolean): void {
    this.reads.noteHeader(name.toLowerCase(), isValue);
  }

  protected noteAll(headers: object): void {
    this.reads.noteAllHeaders(headers);
  }
}

/** Stands for the result of a cookie parser. */
export class CookiesTrap extends NamesTrap {
  protected note(name: string): void {
    this.reads.cookies.push(name);
  }

  protected noteAll(): void {
    this.reads.areCookiesListed = true;
  }
}

/* Stands for an own property of the request, or for one that its prototype makes at the first read. */
abstract class LazyTrap implements ProxyHandler<object> {
  protected readonly reads: Reads;
  readonly #request: object;
  readonly #name: string;
  #real: object | undefined;

  /** @param own the request's own property; undefined if its prototype makes it */
  constructor(reads: Reads, request: object, name: string, own: object | undefined) {
    this.reads = reads;
    this.#request = request;
    this.#name = name;
    this.#real = own;
  }

  protected get real(): object {
    if (this.#real !== undefined) return this.#real;
    const request = this.#request;
    const standIn = Object.getOwnPropertyDescriptor(request, this.#name);
    const prototype = Object.getPrototypeOf(request) as object;
    this.#real = Reflect.get(prototype, this.#name, request) as object;
    // The getter defines what it made on the request, which would hide the reads after this one.
    if (standIn !== undefined) Object.defineProperty(request, this.#name, standIn);
    return this.#real;
  }

  protected abstract note(name: PropertyKey): void;

  get(_target: object, name: PropertyKey): unknown {
    if (isObserved()) this.note(name);
    const value: unknown = Reflect.get(this.real, name, this.real);
    return typeof value === 'function' ? value.bind(this.real) : value;
  }

  set(_target: object, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(this.real, name, value, this.real);
  }

  has(_target: object, name: PropertyKey): boolean {
    if (isObserved()) this.note(name);
    return Reflect.has(this.real, name);
  }

  // The length of an array is the only own property of the stand-in that is not configurable.
  getOwnPropertyDescriptor(target: object, name: PropertyKey): PropertyDescriptor | undefined {
    if (isObserved()) this.note(name);
    const found = Reflect.getOwnPropertyDescriptor(this.real, name);
    if (found === undefined || Reflect.getOwnPropertyDescriptor(target, name) !== undefined)
      return found;
    return { ...found, configurable: true };
  }

  getPrototypeOf(): object | null {
    return Reflect.getPrototypeOf(this.real);
  }

  deleteProperty(_target: object, name: PropertyKey): boolean {
    return Reflect.deleteProperty(this.real, name);
  }
}

/** Stands for `rawHeaders`, from which Node makes `headersDistinct`. */
export class RawHeadersTrap extends LazyTrap {
  protected note(): void {
    this.reads.noteAllHeaders();
  }

  ownKeys(): (string | symbol)[] {
    if (isObserved()) this.note();
    return Reflect.ownKeys(this.real);
  }
}

/** Stands for the connection. A response can depend on it only by the client's address. */
export class SocketTrap extends LazyTrap {
  protected note(name: PropertyKey): void {
    if (ofPeer.has(name)) this.reads.notePeer();
  }
}
