// Opens idle connections to the server of this process, from another one, and says what they cost.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import process from 'node:process';

const wanted = 10_000;
/** Descriptors a process needs for itself. */
const spare = 200;
const atOnce = 250;
let figures;

/** @returns the resident set, in MiB, before and with the connections, which stay. Asked again, it looks again. */
export async function hold(server) {
  figures ??= await open(server.address().port);
  return { ...figures, rssMiB: residentMiB() };
}

async function open(port) {
  const rssBeforeMiB = residentMiB();
  const child = fork(import.meta.filename, [String(port)]);
  process.on('exit', () => child.kill());
  const [connections] = await once(child, 'message');
  return { connections, rssBeforeMiB };
}

function residentMiB() {
  return Math.round(process.memoryUsage.rss() / 2 ** 18) / 4;
}

/** Each connection asks once, and stays. Node raises the soft limit of descriptors to the hard one by itself. */
async function connectAll(port) {
  const count = Math.min(wanted, descriptorLimit() - spare);
  const sockets = [];
  for (let i = 0; i < count; i += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, count - i) }, () => connectOne(port));
    sockets.push(...(await Promise.all(some)));
  }
  process.send(sockets.length);
}

async function connectOne(port) {
  const socket = createConnection(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: idle\r\n\r\n');
  await once(socket, 'data');
  return socket.resume();
}

function descriptorLimit() {
  const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
  return Number(line?.[1] ?? 1_024) || Number.MAX_SAFE_INTEGER;
}

if (process.argv[1] === import.meta.filename) {
  process.on('disconnect', () => process.exit());
  await connectAll(Number(process.argv[2]));
}
