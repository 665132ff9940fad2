// A worker that does what its primary asks, on Node's servers or on the engine's: `primary.ts` has what is asked.
import cluster from 'node:cluster';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import * as node from 'node:http';
import type { ListenOptions, Server as NetServer, Socket } from 'node:net';
import * as redline from '../../src/index.ts';
import type { HttpModule } from '../conformance/engine.ts';

export type Listening = { server: string; max?: number; drops?: boolean } & ListenOptions;
export type Listened = { address: unknown; engine: string } | { code: string };

const http = process.argv[2] === 'node' ? node : (redline as unknown as HttpModule);
const servers = new Map<string, node.Server>();
const held: node.ServerResponse[] = [];

function makeServer(name: string): node.Server {
  const server = http.createServer(answer);
  servers.set(name, server);
  // Every connection is reported by then.
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.on('upgrade', (_, socket: Socket, first) =>
    echo(socket, '101 Switching Protocols', first),
  );
  server.on('connect', (_, socket: Socket, first) => echo(socket, '200 Connected', first));
  server.on('drop', (dropped?: object) => tell('drop', name, Object.keys(dropped ?? {})));
  server.on('close', () => tell('close', name));
  function answer(request: node.IncomingMessage, response: node.ServerResponse): void {
    const { remoteAddress, remotePort, localPort } = request.socket;
    if (request.url === '/held') {
      held.push(response);
      tell('held', name);
    } else if (request.url === '/send') {
      process.send!({ event: ['sent', name] }, request.socket);
    } else {
      const worker = cluster.worker!.id;
      response.end(
        JSON.stringify({ worker, name, connections, remoteAddress, remotePort, localPort }),
      );
    }
  }
  return server;
}

function echo(socket: Socket, status: string, first: Buffer): void {
  socket.write(`HTTP/1.1 ${status}\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n`);
  socket.write(first);
  socket.pipe(socket);
}

function tell(...event: unknown[]): void {
  process.send!({ event });
}

const commands: Record<string, (given: never, handle: never) => unknown> = {
  async listen({ server: name, max, drops, ...options }: Listening, handle?: NetServer) {
    const server = servers.get(name) ?? makeServer(name);
    if (max !== undefined) server.maxConnections = max;
    // Newer than the types of Node here.
    if (drops) (server as { dropMaxConnection?: boolean }).dropMaxConnection = true;
    server.listen(handle ?? options);
    try {
      await once(server, 'listening');
      return { address: server.address(), engine: redline.engine(server).name };
    } catch (error) {
      return { code: (error as NodeJS.ErrnoException).code };
    }
  },
  close: (name: string) => void servers.get(name)!.close(),
  closeIdle: (name: string) => servers.get(name)!.closeIdleConnections(),
  closeAll: (name: string) => servers.get(name)!.closeAllConnections(),
  release() {
    for (const response of held.splice(0)) response.end('released');
  },
  count: (name: string) =>
    new Promise((resolve) => servers.get(name)!.getConnections((_, count) => resolve(count))),
  descriptors: () => readdirSync('/proc/self/fd').length,
  disconnect: () => void cluster.worker!.disconnect(),
  kill: () => void cluster.worker!.kill(),
  /* What @socket.io/sticky does in a worker. */
  sticky(data: string, socket: Socket) {
    (servers.get('sticky') ?? makeServer('sticky')).emit('connection', socket);
    socket.emit('data', Buffer.from(data));
    socket.resume();
  },
};

process.on('message', async (asked: { id: number; name: string; given: never }, handle) => {
  const { id, name, given } = asked;
  const value = await commands[name]!(given, handle as never);
  if (process.connected) process.send!({ id, value });
});
