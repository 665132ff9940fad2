import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { ListenOptions } from 'node:net';

type Ending = Server & { endConnections?(lingerMs: number): void };
type Listen = (...args: unknown[]) => Server;

/** Interval between checks for connections that have become idle since the server stopped listening. */
const IDLE_CHECK_MS = 100;

/** Time that a stopping thread waits for requests already on their way to it. */
const LINGER_MS = 500;

let isShared = false;
let isStopping = false;
const listening = new Set<Server>();
/** Responses of Node's own servers, tracked because these have no other way to end their connections. */
const underWay = new Set<ServerResponse>();

/** Makes the servers of this thread share their ports, and closes them together. */
export function shareServers(): void {
  isShared = true;
}

/** Returns true if other threads of the process may listen at the same address. */
export function sharesServers(): boolean {
  return isShared;
}

/** Registers a server of this thread, right after its creation. */
export function noteServer(server: Server): void {
  if (!isShared) return;
  const listen = server.listen.bind(server) as Listen;
  server.listen = ((...args: unknown[]) => listen(...withReusePort(args))) as never;
  if (!('endConnections' in server)) server.prependListener('request', watch);
  server.on('listening', () => listening.add(server));
  server.on('close', () => listening.delete(server));
}

function watch(_: unknown, response: ServerResponse): void {
  if (isStopping) response.shouldKeepAlive = false;
  underWay.add(response);
  response.once('close', () => underWay.delete(response));
}

/** Makes every response announce the end of its connection, so that the client reconnects to another thread. */
export function endConnections(): void {
  isStopping = true;
  for (const server of listening) (server as Ending).endConnections?.(LINGER_MS);
  for (const response of underWay) response.shouldKeepAlive = false;
}

/** Stops listening, and resolves when all pending requests have their responses. */
export async function closeServers(): Promise<void> {
  await Promise.all([...listening].map((server) => close(server)));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  if (server.listening) server.close();
  // A connection whose response was pending when the server closed is kept open by the client.
  const check = setInterval(() => server.closeIdleConnections?.(), IDLE_CHECK_MS);
  await closed;
  clearInterval(check);
}

/** The forms of `listen` that name a port: (port, host, backlog, callback) and (options, callback). */
function withReusePort(args: unknown[]): unknown[] {
  const [first, ...rest] = args;
  const callback = rest.findLast((value) => typeof value === 'function');
  if (typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first))) {
    const options: ListenOptions = { port: Number(first), reusePort: true };
    const host = rest.find((value) => typeof value === 'string');
    const backlog = rest.find((value) => typeof value === 'number');
    if (host !== undefined) options.host = host;
    if (backlog !== undefined) options.backlog = backlog;
    return [options, callback].filter((value) => value !== undefined);
  }
  if (typeof first === 'object' && first !== null && 'port' in first && first.port !== undefined) {
    return [{ reusePort: true, ...first }, ...rest];
  }
  return args;
}
