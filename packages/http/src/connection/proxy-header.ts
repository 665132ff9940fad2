import type { Socket } from 'node:net';
import type { Connection, SocketAddress } from '../native/index.ts';

/** The PROXY protocol header at the start of a connection. */
export interface ProxyHeader {
  readonly version: 1 | 2;
  /**
   * The connection is forwarded for a client, and the socket has the client's addresses. False for the proxy's own
   * connections, such as a health check (`LOCAL`), and if the proxy does not know (`UNKNOWN`): the socket has its real
   * addresses.
   */
  readonly isProxied: boolean;
  /** Address of the proxy itself; undefined on a Unix socket. */
  readonly proxy: SocketAddress | undefined;
  /** The type-length-values of version 2 in their order, such as 0x02, the requested host name, and 0x20, TLS. */
  readonly values: readonly ProxyValue[];
}

/** A type-length-value of the header. Those about the client are claims of the proxy. */
export interface ProxyValue {
  readonly type: number;
  readonly value: Buffer;
}

const HEADER_BYTES = 3;

/** Key of a socket's proxy header; every copy of the package knows it. */
export const kProxyHeader: unique symbol = Symbol.for('redline.http.proxyHeader') as never;

interface Proxied {
  [kProxyHeader]?(): ProxyHeader | undefined;
}

/**
 * Returns the proxy header of a request's connection or an upgraded socket. Undefined on a server without `proxyProtocol`,
 * and once the connection is gone.
 *
 * @example proxyHeaderOf(request.socket)?.values.find(({ type }) => type === 0x02)?.value.toString();
 */
export function proxyHeaderOf(socket: Socket): ProxyHeader | undefined {
  return (socket as Proxied)[kProxyHeader]?.();
}

export function readProxyHeader(native: Connection): ProxyHeader | undefined {
  const found = native.proxyHeader();
  if (found === undefined) return undefined;
  const { version, hasEnds: isProxied, peer, values } = found;
  const proxy = peer === undefined || peer.family === '' ? undefined : peer;
  return { version: version === 1 ? 1 : 2, isProxied, proxy, values: [...valuesOf(values)] };
}

/** Keeps the client's addresses on a Node socket that has left the engine. */
export function keepProxied(native: Connection): (socket: Socket) => void {
  const header = readProxyHeader(native);
  if (header === undefined) return () => {};
  const ends = { _peername: native.remote() ?? {}, _sockname: native.local() ?? {} };
  // net.Socket caches its handle's addresses in these fields.
  return (socket) => Object.assign(socket, ends, { [kProxyHeader]: () => header });
}

function* valuesOf(bytes: Buffer): Iterable<ProxyValue> {
  for (let at = 0; at < bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt16BE(at + 1);
    yield { type: bytes[at]!, value: bytes.subarray(at + HEADER_BYTES, end) };
    at = end;
  }
}
