// Holds as many idle connections as the limit allows, up to ten thousand; the clients live in a second process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createConnection, type AddressInfo, type Socket } from 'node:net';
import { createServer } from '../../src/index.ts';
import { until } from '@redline/services/until';

const wanted = 10_000;
/** What a process needs beside the connections. */
const spare = 200;
const atOnce = 200;
const isClient = process.argv[2] !== undefined;

if (isClient) await actAsClients(Number(process.argv[2]));
else await actAsServer();

async function actAsServer(): Promise<void> {
  const server = createServer({ keepAliveTimeout: 0 }, (_, response) => response.end('hello'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const clients = fork(import.meta.filename, [String(port)], { execArgv: ['--no-warnings'] });
  const [sent] = await once(clients, 'message');
  const kept = await connections(server);
  clients.send('again');
  const [again] = await once(clients, 'message');
  clients.kill();
  await until('nobody is connected', async () => (await connections(server)) === 0);
  process.send!({ sent, kept, again, left: await connections(server) });
}

async function actAsClients(port: number): Promise<void> {
  const count = Math.min(wanted, descriptorLimit() - spare);
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - i) }, async () => {
      const socket = createConnection(port, '127.0.0.1');
      await ask(socket);
      return socket;
    });
    sockets.push(...(await Promise.all(some)));
  }
  process.send!(sockets.length);
  await once(process, 'message');
  let answered = 0;
  for (const socket of sockets) {
    await ask(socket);
    answered++;
  }
  process.send!(answered);
}

async function ask(socket: Socket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(socket, 'data');
}

function connections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

function descriptorLimit(): number {
  const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return Number(line?.[1] ?? 1_024) || Number.MAX_SAFE_INTEGER;
}
