// `npm run demo:defer`: orders come in all the time, while Redis is killed, the server is killed -9, and both come back.
// In the end every order that was answered with 202 is looked for in the queue. DEMO_SECONDS: how long each act takes.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, startRedis } from '@redline/services';
import { Redis } from 'ioredis';

const clients = 20;
const actMs = Number(process.env.DEMO_SECONDS ?? 3) * 1_000;
/** All of it is there within a second or two, and Redis may be asked for what it lost for as long as this. */
const arrivalMs = 60_000;
const json = { 'content-type': 'application/json' };

const redis = await startRedis();
if (redis === undefined) {
  process.stderr.write('This needs a redis-server or valkey-server on PATH.\n');
  process.exit(1);
}
const journal = mkdtempSync(join(tmpdir(), 'redline-demo-'));
const port = await freePort();
const accepted = new Set<string>();
let refused = 0;
let sent = 0;
const over = new AbortController();
let server = await startServer();
process.on('exit', () => {
  server.kill('SIGKILL');
  rmSync(journal, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void redis.stop().then(() => process.exit(130)));
}

say('orders come in from 20 clients; each is a job of level "disk" for a BullMQ queue');
const load = Promise.all(Array.from({ length: clients }, client));
await act();
await redis.kill();
say('Redis is killed -9, and keeps nothing of what it had');
await act();
server.kill('SIGKILL');
await once(server, 'exit');
say('the server is killed -9, in the middle of its work');
await sleep(actMs / 3);
server = await startServer();
say('the server is started again; still no Redis');
await act();
await redis.restart();
say('Redis is back, and empty');
await act();
over.abort();
await load;
say('no more orders: waiting for the jobs');

const jobs = await arrivals();
const arrived = new Set(jobs);
const lost = [...accepted].filter((id) => !arrived.has(id)).length;
process.stdout.write(
  `\n  orders answered with 202     ${count(accepted.size)}\n` +
    `  of them in the queue         ${count(accepted.size - lost)}\n` +
    `  lost                         ${count(lost)}\n` +
    `  there twice                  ${count(jobs.length - arrived.size)}\n` +
    `  refused or cut off           ${count(refused)}   (their clients know)\n\n`,
);
server.kill('SIGTERM');
await redis.stop();
// None answered, none lost: that shows nothing.
process.exit(lost === 0 && accepted.size > 0 ? 0 : 1);

async function startServer(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'demo-server.js')], {
    env: { ...process.env, PORT: String(port), JOURNAL: journal, REDIS_URL: redis!.url },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}.`);
    await sleep(50);
  }
  return child;
}

/** One order after the other, each with an id of its own. */
async function client(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!over.signal.aborted) {
    const id = `order-${++sent}`;
    const status = await order(id, agent).catch(() => 0);
    if (status === 202) accepted.add(id);
    else {
      refused += 1;
      await sleep(20);
    }
  }
  agent.destroy();
}

function order(id: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port, host: '127.0.0.1', path: '/orders', method: 'POST', agent, headers: json },
      (response) => {
        response.resume().once('end', () => resolve(response.statusCode!));
        response.once('error', reject);
      },
    );
    asked.once('error', reject);
    asked.end(JSON.stringify({ id }));
  });
}

function answers(of: number): Promise<boolean> {
  return new Promise((resolve) => {
    request({ port: of, host: '127.0.0.1', path: '/' }, (response) => {
      response.resume();
      resolve(true);
    })
      .once('error', () => resolve(false))
      .end();
  });
}

/** The ids of the jobs in the queue, as soon as all that are due are there. */
async function arrivals(): Promise<string[]> {
  const store = new Redis(redis!.url);
  const until = Date.now() + arrivalMs;
  for (;;) {
    await sleep(200);
    const waiting = await store.lrange('bull:orders:wait', 0, -1);
    const found = await Promise.all(waiting.map((job) => orderOf(store, job)));
    const ids = new Set(found);
    if (Date.now() < until && [...accepted].some((id) => !ids.has(id))) continue;
    store.disconnect();
    return found;
  }
}

async function orderOf(store: Redis, job: string): Promise<string> {
  const data = await store.hget(`bull:orders:${job}`, 'data');
  return (JSON.parse(data!) as { id: string }).id;
}

async function act(): Promise<void> {
  const before = accepted.size;
  await sleep(actMs);
  process.stdout.write(
    `${' '.repeat(10)}${count(accepted.size - before)} orders answered with 202\n`,
  );
}

function say(what: string): void {
  process.stdout.write(`${(performance.now() / 1_000).toFixed(1).padStart(6)} s  ${what}\n`);
}

function count(value: number): string {
  return value.toLocaleString('en').padStart(8);
}
