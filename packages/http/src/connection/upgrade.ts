import net, { type Socket, type SocketConstructorOpts } from 'node:net';
import type { HttpConnection } from './connection.ts';
import { detachSocket, type ConnectionSocket } from './connection-socket.ts';
import { keepProxied } from './proxy-header.ts';
import { completeBodyless } from '../request/request-body.ts';
import { runInContext } from '../request/request-context.ts';
import type { EngineRequest, ServingServer } from '../exchange.ts';
import { isNode26 } from '../node/node-internals.ts';

type Handle = object;
type Detached = Socket & { server: ServingServer; _server: ServingServer; _handle: Handle | null };
type SocketFunction = (this: Socket, options: object) => void;

/** Returns true if the server's `shouldUpgradeCallback` accepts a possible upgrade request. */
export function isUpgrade(request: EngineRequest, { server }: HttpConnection): boolean {
  request.upgrade = request.method === 'CONNECT' || Boolean(server.shouldUpgradeCallback(request));
  return request.upgrade;
}

/** Hands over the connection: a real net.Socket on its descriptor, and the bytes after the head. */
export function upgrade(request: EngineRequest, connection: HttpConnection): void {
  const { native, server } = connection;
  const event = request.method === 'CONNECT' ? 'connect' : 'upgrade';
  if (server.listenerCount(event) === 0) {
    native.destroy();
    return;
  }
  const existing = connection.existingSocket;
  const isReferenced = existing === null || existing.isReferenced;
  const keep = server.proxies === undefined ? undefined : keepProxied(native);
  const detached = native.detach();
  if (detached === undefined) return;
  const { fd, head } = detached;
  const options: SocketConstructorOpts = {
    fd,
    allowHalfOpen: true,
    readable: true,
    writable: true,
  };
  const socket = (
    existing === null ? new net.Socket(options) : become(existing, options)
  ) as Detached;
  keep?.(socket);
  if (!isReferenced) socket.unref();
  server.countDetached();
  socket.server = server;
  socket._server = server;
  connection.detached();
  if (isNode26 && event === 'upgrade' && hasBody(request)) {
    // The body belongs to the request and ends before the upgraded protocol begins: Node's own parser and stream handle
    // that.
    socket.unshift(Buffer.concat([headOf(request), head]));
    server.serveByNode(socket);
    return;
  }
  request.socket = socket;
  completeBodyless(request);
  runInContext(request, () => server.emit(event, request, socket, head));
}

/** Uses the raw headers: `request.headers` would call methods that user code may have replaced. */
function hasBody({ rawHeaders }: EngineRequest): boolean {
  return rawHeaders.some(
    (name, at) => at % 2 === 0 && /^(?:content-length|transfer-encoding)$/i.test(name),
  );
}

/** Returns the head as the client sent it, except for white space. */
function headOf({ method, url, httpVersion, rawHeaders }: EngineRequest): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    head += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, 'latin1');
}

/** Moves an announced connection, from which no byte was read, to Node's own server. */
export function giveToNode(connection: HttpConnection): void {
  const { native, server, existingSocket } = connection;
  if (existingSocket === null || native.bytesRead > 0) return;
  const { isReferenced } = existingSocket;
  const detached = native.detach();
  if (detached === undefined) return;
  const { fd } = detached;
  const options = { fd, allowHalfOpen: true, readable: true, writable: true };
  const socket = become(existingSocket, options) as Detached;
  if (!isReferenced) socket.unref();
  server.countDetached();
  socket.server = server;
  socket._server = server;
  connection.detached();
  server.serveByNode(socket);
}

/** Code that holds the connection's socket object continues with the same object. */
function become(socket: ConnectionSocket, options: SocketConstructorOpts): Socket {
  detachSocket(socket);
  const holder = new net.Socket({ ...options, manualStart: true } as never) as Detached;
  const handle = holder._handle;
  holder._handle = null;
  Object.setPrototypeOf(socket, net.Socket.prototype);
  const { fd: _, ...rest } = options;
  (net.Socket as never as SocketFunction).call(socket, { ...rest, handle });
  return socket;
}
