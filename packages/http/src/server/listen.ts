import net from 'node:net';

/** The libuv handle of a server, as far as this package touches it. */
export interface ListeningHandle {
  readonly fd?: number;
  listen(backlog: number): number;
  close(afterClose?: () => void): void;
  ref?(): void;
  unref?(): void;
  getsockname?(into: object): number;
}

interface Bound {
  handle: ListeningHandle;
  address: string | null;
  addressType: number;
}

/** What takes connections from a descriptor that is bound. */
export interface Acceptor {
  stop(): void;
  ref(): void;
  unref(): void;
}

type CreateHandle = (
  address: string | null,
  port: number,
  addressType: number,
  fd: number | undefined,
  flags: number | undefined,
) => ListeningHandle | number;

const createHandle = (net as unknown as { _createServerHandle: CreateHandle })._createServerHandle;
const UNSPECIFIED_IPV6 = '::';
const UNSPECIFIED_IPV4 = '0.0.0.0';

/** Where a server listens: an address, or a descriptor that is bound already. */
interface Endpoint {
  readonly address: string | null;
  readonly port: number;
  readonly addressType: number;
  readonly fd: number | undefined;
  readonly flags: number | undefined;
}

/** Binds as net.Server does. A handle that could not be bound reports it on listen. */
export function bindHandle(endpoint: Endpoint): Bound {
  if (endpoint.address || typeof endpoint.fd === 'number') return boundTo(endpoint, open(endpoint));
  const ipv6 = { ...endpoint, address: UNSPECIFIED_IPV6, addressType: 6 };
  const handle = open(ipv6);
  if (typeof handle !== 'number') return boundTo(ipv6, handle);
  const ipv4 = { ...endpoint, address: UNSPECIFIED_IPV4, addressType: 4 };
  return boundTo(ipv4, open(ipv4));
}

function open({ address, port, addressType, fd, flags }: Endpoint): ListeningHandle | number {
  return createHandle(address, port, addressType, fd, flags);
}

function boundTo({ address, addressType }: Endpoint, handle: ListeningHandle | number): Bound {
  return { handle: typeof handle === 'number' ? unbound(handle) : handle, address, addressType };
}

/**
 * Makes the handle listen through `accept` instead of libuv: everything else about it, its address, its errors, its
 * end, stays as net.Server knows it.
 */
export function listenThrough(
  handle: ListeningHandle,
  accept: (fd: number, backlog: number) => Acceptor | number,
): void {
  const { fd } = handle;
  // A worker of a cluster has a handle without a descriptor: connections come from the primary, one by one.
  if (fd === undefined || fd < 0) return;
  let acceptor: Acceptor | undefined;
  const { close, ref, unref } = handle;
  handle.listen = (backlog) => {
    // libuv keeps the error of bind until now, and the kernel would choose a port of its own.
    const error = handle.getsockname?.({}) ?? 0;
    if (error !== 0) return error;
    const accepted = accept(fd, backlog);
    if (typeof accepted === 'number') return accepted;
    acceptor = accepted;
    return 0;
  };
  handle.close = (afterClose) => {
    acceptor?.stop();
    acceptor = undefined;
    close.call(handle, afterClose);
  };
  handle.ref = () => {
    acceptor?.ref();
    ref?.call(handle);
  };
  handle.unref = () => {
    acceptor?.unref();
    unref?.call(handle);
  };
}

function unbound(error: number): ListeningHandle {
  return { listen: () => error, close() {} };
}
