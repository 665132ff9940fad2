import net from 'node:net';

/** The libuv handle of a connection that somebody else has accepted. */
export interface AcceptedHandle {
  /** Of a handle on a socket; -1 when it has none. */
  readonly fd?: number;
  close(): void;
}

/** Node reports accepted connections by it, and so does a worker of node:cluster that is given one. */
type OnConnection = (error: number, client: AcceptedHandle | undefined) => void;

/** The libuv handle of a server, as far as this package touches it. A worker of node:cluster has a stand-in without descriptor. */
export interface ListeningHandle {
  readonly fd?: number;
  onconnection?: OnConnection;
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

/** The engine's server behind a handle. */
export interface Acceptor {
  stop(): void;
  ref(): void;
  unref(): void;
}

/** How the engine gets the connections of a handle. */
export interface Intake {
  /** Accepts them from a descriptor that is bound. A number is the error's. */
  accept(fd: number, backlog: number): Acceptor | number;
  /** Waits for those that `adopt` hands over. A number is the error's. */
  serve(): Acceptor | number;
  /** Serves a connection on a copy of its descriptor. False where Node's own code has to deal with it. */
  adopt(client: AcceptedHandle): boolean;
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
/**
 * Makes the handle listen through the engine instead of libuv: everything else about it, its address, its errors, its
 * end, stays as net.Server knows it. Without a descriptor, as in a worker of node:cluster, its connections are handed over one
 * by one.
 *
 * @returns gives the handle back to libuv, which takes connections from then on
 */
export function listenThrough(handle: ListeningHandle, intake: Intake): () => void {
  const { fd = -1 } = handle;
  let acceptor: Acceptor | undefined;
  let lastBacklog = 0;
  const { listen, close, ref, unref } = handle;
  handle.listen = (backlog) => {
    lastBacklog = backlog;
    // libuv keeps the error of bind until now, and the kernel would choose a port of its own.
    const error = fd < 0 ? listen.call(handle, backlog) : (handle.getsockname?.({}) ?? 0);
    if (error !== 0) return error;
    const accepted = fd < 0 ? intake.serve() : intake.accept(fd, backlog);
    if (typeof accepted === 'number') return accepted;
    acceptor = accepted;
    adoptFrom(handle, intake);
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
  return () => {
    acceptor?.stop();
    if (acceptor !== undefined && fd >= 0) listen.call(handle, lastBacklog);
    acceptor = undefined;
  };
}

/**
 * The connections that the handle itself reports become the engine's: those that the primary of a cluster sends, and those of a
 * handle that came from another process and listened before it got here. The engine has a descriptor of its own, so that libuv
 * closes the handle as it does every other.
 */
function adoptFrom(handle: ListeningHandle, intake: Intake): void {
  const nodes = handle.onconnection;
  handle.onconnection = (error, client) => {
    if (error === 0 && client !== undefined && intake.adopt(client)) client.close();
    else nodes?.call(handle, error, client);
  };
}

function unbound(error: number): ListeningHandle {
  return { listen: () => error, close() {} };
}
