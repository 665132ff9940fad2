import type { Socket } from 'node:net';
import type { Connection, SocketAddress } from '../native/index.ts';

/** What the proxy of a connection has said, in the header of the PROXY protocol that the connection began with. */
export interface ProxyHeader {
  readonly version: 1 | 2;
  /**
   * The connection is passed on for a client, whose ends the socket has. False for the proxy's own, such as a health check
   * (`LOCAL`), and where the proxy does not know (`UNKNOWN`): the socket has its real ends.
   */
  readonly isProxied: boolean;
  /** The proxy itself; undefined behind a Unix socket. */
  readonly proxy: SocketAddress | undefined;
  /** The values of version 2 in their order, such as 0x02, the name the client asked for, and 0x20, TLS. */
  readonly values: readonly ProxyValue[];
}

/** A type-length-value of the header. Those that say something about the client are the proxy's word. */
export interface ProxyValue {
  readonly type: number;
  readonly value: Buffer;
}

const HEADER_BYTES = 3;

/** The sockets of this package have what they know under this. Every copy of the package knows it. */
export const kProxyHeader: unique symbol = Symbol.for('redline.http.proxyHeader') as never;

interface Proxied {
  [kProxyHeader]?(): ProxyHeader | undefined;
}

/**
 * What the proxy has said of the connection of a request, or of an upgraded socket. Undefined on a server without
 * `proxyProtocol`, and once the connection is gone.
 *
 * @example proxyHeaderOf(request.socket)?.values.find(({ type }) => type === 0x02)?.value.toString();
 */
export function proxyHeaderOf(socket: Socket): ProxyHeader | undefined {
  return (socket as Proxied)[kProxyHeader]?.();
}

/** Asks the engine. */
export function readProxyHeader(native: Connection): ProxyHeader | undefined {
  const found = native.proxyHeader();
  if (found === undefined) return undefined;
  const { version, hasEnds: isProxied, peer, values } = found;
  const proxy = peer === undefined || peer.family === '' ? undefined : peer;
  return { version: version === 1 ? 1 : 2, isProxied, proxy, values: [...valuesOf(values)] };
}

/** A socket of Node's that has left the engine still comes from the client of its proxy. */
export function keepProxied(native: Connection): (socket: Socket) => void {
  const header = readProxyHeader(native);
  if (header === undefined) return () => {};
  const ends = { _peername: native.remote() ?? {}, _sockname: native.local() ?? {} };
  // Where net.Socket keeps what it has asked its handle for.
  return (socket) => Object.assign(socket, ends, { [kProxyHeader]: () => header });
}

function* valuesOf(bytes: Buffer): Iterable<ProxyValue> {
  for (let at = 0; at < bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt16BE(at + 1);
    yield { type: bytes[at]!, value: bytes.subarray(at + HEADER_BYTES, end) };
    at = end;
  }
}
