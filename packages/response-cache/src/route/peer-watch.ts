import { isObserved, type Reads } from './reads.ts';
import { StandIns } from './stand-ins.ts';

/* Node's sockets ask their handle for the address of the peer, once. */
export interface PeerSocket extends Record<PropertyKey, unknown> {
  _peername?: Address;
  _getpeername?: unknown;
  _handle?: (Record<PropertyKey, unknown> & { getpeername?(into: Address): number }) | null;
}

type Address = Record<PropertyKey, unknown>;

const ofAddress = ['address', 'port', 'family'] as const;
const ofSocket = ['remoteAddress', 'remotePort', 'remoteFamily'] as const;
const ofCertificate = ['getPeerCertificate', 'getPeerX509Certificate'] as const;

const peerWatches = new WeakMap<object, PeerWatch>();

type Ask = (into: Address) => unknown;

/* Handles of watched connections, with what is called once they have told of the peer. */
const askers = new WeakMap<object, (into: Address) => void>();
const askedShims = new WeakMap<object, object>();

/* Reports when one of the handles with this prototype is asked for the address. */
function askedShim(prototype: object): object {
  let shim = askedShims.get(prototype);
  if (shim === undefined) {
    shim = Object.create(prototype) as object;
    const value = function (this: object, into: Address): unknown {
      const code = (Reflect.get(prototype, 'getpeername', this) as Ask).call(this, into);
      askers.get(this)?.(into);
      return code;
    };
    Object.defineProperty(shim, 'getpeername', { value, configurable: true, writable: true });
    askedShims.set(prototype, shim);
  }
  return shim;
}

/*
 * Watches one connection for all of its watched requests, of which there are several at once with pipelining. Libraries use the socket
 * as a key of their tables, so no stand-in can take its place. An accessor of its own makes V8 keep the socket as a table, which slows
 * down all later requests of the connection: Node's sockets get one only if they have a property or a certificate of their own.
 */
export class PeerWatch {
  readonly #readers = new Set<Reads>();
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

  add(reads: Reads): void {
    this.#readers.add(reads);
  }

  delete(reads: Reads): void {
    if (!this.#readers.delete(reads) || this.#readers.size > 0) return;
    peerWatches.delete(this.#socket);
    this.#standIns.restore();
  }

  #watchAddressOf({ _peername: kept, _handle: handle }: PeerSocket): void {
    if (kept !== undefined) {
      this.#watchAddress(kept);
    } else if (typeof handle?.getpeername === 'function') {
      this.#watchHandle(handle);
    }
  }

  #watchHandle(handle: NonNullable<PeerSocket['_handle']>): void {
    const own = handle.getpeername as Ask;
    if (Object.hasOwn(handle, 'getpeername')) {
      const asked: Ask = (into) => {
        const code = own.call(handle, into);
        this.#watchAddress(into);
        return code;
      };
      this.#standIns.put(handle, 'getpeername', asked);
    } else {
      askers.set(handle, (into) => this.#watchAddress(into));
      this.#standIns.putPrototype(handle, askedShim);
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
export function watchPeer(socket: PeerSocket | undefined, reads: Reads): PeerWatch | undefined {
  if (socket === undefined) return undefined;
  let watch = peerWatches.get(socket);
  if (watch === undefined) peerWatches.set(socket, (watch = new PeerWatch(socket)));
  watch.add(reads);
  return watch;
}
