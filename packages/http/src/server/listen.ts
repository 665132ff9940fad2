import net from 'node:net';

/** The libuv handle of a connection accepted by other code. */
export interface AcceptedHandle {
  /** Descriptor of a socket handle; -1 if it has none. */
  readonly fd?: number;
  close(): void;
}

/** Reports accepted connections in Node; also called in a node:cluster worker for each connection it is sent. */
type OnConnection = (error: number, client: AcceptedHandle | undefined) => void;

/** The parts of a server's libuv handle used by this package. A node:cluster worker has a stand-in without a descriptor. */
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

/** The engine's server for a handle. */
export interface Acceptor {
  stop(): void;
  ref(): void;
  unref(): void;
}

/** The ways in which the engine gets the connections of a handle. */
export interface Intake {
  /** Accepts from a bound descriptor. Returns a negative errno on failure. */
  accept(fd: number, backlog: number): Acceptor | number;
  /** Waits for connections passed to `adopt`. Returns a negative errno on failure. */
  serve(): Acceptor | number;
  /** Serves a connection on a copy of its descriptor. Returns false if Node's own code has to handle it. */
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

/** The address of a server, or a descriptor that is already bound. */
interface Endpoint {
  readonly address: string | null;
  readonly port: number;
  readonly addressType: number;
  readonly fd: number | undefined;
  readonly flags: number | undefined;
}

/** Binds as net.Server does. A handle that could not be bound reports the error on listen. */
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
 * Makes the handle listen through the engine instead of libuv: its address, errors and end remain those that net.Server
 * knows. Without a descriptor, as in a node:cluster worker, its connections are handed over one by one.
 *
 * @returns a function that gives the handle back to libuv, which then accepts connections
 */
export function listenThrough(handle: ListeningHandle, intake: Intake): () => void {
  const { fd = -1 } = handle;
  let acceptor: Acceptor | undefined;
  let lastBacklog = 0;
  const { listen, close, ref, unref } = handle;
  handle.listen = (backlog) => {
    lastBacklog = backlog;
    // libuv keeps the error of bind until now; without this check, the kernel would choose another port.
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
 * Passes connections reported by the handle itself to the engine: those sent by the primary of a cluster, and those of a
 * handle that came from another process and was listening already. The engine duplicates the descriptor, so libuv closes the
 * handle as usual.
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
