// Runs two workers, on Node's servers or on the engine's by its argument, and prints what there is to see of them from outside
// as JSON: a line for each behaviour.
import cluster, { type Address, type Worker } from 'node:cluster';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@redline/services';
import { connect, leave, talk } from '../conformance/wire.ts';
import { moment } from '../conformance/engine.ts';
import type { Listened, Listening } from './worker.ts';

const local = { host: '127.0.0.1', port: 0 };

/** A worker, what it is asked, and what it tells. */
class Hand {
  readonly worker: Worker = cluster.fork();
  readonly #events: string[] = [];
  #next = 0;
  #sockets: Socket[] = [];

  constructor() {
    this.worker.on('message', ({ event }: { event?: unknown[] }, handle: unknown) => {
      if (event === undefined) return;
      if (handle !== undefined) this.#sockets.push(handle as Socket);
      this.#events.push(JSON.stringify(event));
    });
  }

  ask(name: string, given?: unknown, handle?: never): Promise<never> {
    const id = ++this.#next;
    return new Promise((resolve) => {
      const hear = (said: { id?: number; value: never }) => {
        if (said.id !== id) return;
        this.worker.off('message', hear);
        resolve(said.value);
      };
      this.worker.on('message', hear);
      this.worker.send({ id, name, given }, handle as never);
    });
  }

  listen(options: Listening): Promise<Listened> {
    return this.ask('listen', options);
  }

  has(...event: unknown[]): boolean {
    return this.#events.includes(JSON.stringify(event));
  }

  /** Waits for an event, and forgets it. */
  async heard(...event: unknown[]): Promise<void> {
    while (!this.has(...event)) await moment(5);
    this.#events.splice(this.#events.indexOf(JSON.stringify(event)), 1);
  }

  takeSocket(): Socket {
    return this.#sockets.shift()!;
  }
}

interface Seen {
  worker: number;
  connections: number;
  remoteAddress?: string;
  remotePort?: number;
  localPort?: number;
}

/** A request by Node's own client, and the port it left from. */
async function get(to: http.RequestOptions, agent: http.Agent | false = false) {
  const request = http.get({ host: '127.0.0.1', ...to, agent });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { localPort: from } = response.socket;
  let text = '';
  for await (const chunk of response) text += chunk;
  return { from, seen: JSON.parse(text) as Seen };
}

async function workersOf(to: http.RequestOptions, requests = 6): Promise<number[]> {
  const ids = new Set<number>();
  for (let left = requests; left > 0; left--) ids.add((await get(to)).seen.worker);
  return [...ids].toSorted((a, b) => a - b);
}

const head = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const folder = mkdtempSync(join(tmpdir(), 'redline-cluster-'));
cluster.setupPrimary({
  exec: new URL('worker.ts', import.meta.url).pathname,
  args: [process.argv[2]!],
  execArgv: ['--no-warnings'],
});
cluster.schedulingPolicy = cluster.SCHED_RR;
const told: Address[] = [];
cluster.on('listening', (_, address) => told.push(address));
const one = new Hand();
const two = new Hand();
const engines = new Set<string>();
let port = 0;

/** The address without the port, which the kernel chooses, and the engine apart. */
function withoutPort(listened: Listened): unknown {
  if ('code' in listened) return listened;
  engines.add(listened.engine);
  const { address } = listened;
  return typeof address === 'string' ? 'a path' : { ...(address as AddressInfo), port: 'a port' };
}

/** The one of both that has got a request, or whatever it tells of, and the other. */
async function teller(event: string): Promise<[Hand, Hand]> {
  while (!one.has(event, 'shared') && !two.has(event, 'shared')) await moment(5);
  const both: [Hand, Hand] = one.has(event, 'shared') ? [one, two] : [two, one];
  await both[0].heard(event, 'shared');
  return both;
}

async function waitForNone(...hands: Hand[]): Promise<void> {
  for (const hand of hands) while ((await hand.ask('count', 'shared')) !== 0) await moment(5);
}

async function descriptors(): Promise<number[]> {
  const own = readdirSync('/proc/self/fd').length;
  return [own, await one.ask('descriptors'), await two.ask('descriptors')];
}

const behaviours: Record<string, () => unknown> = {
  async 'port 0 is one port for both'() {
    const [first, second] = [
      await one.listen({ server: 'shared', ...local }),
      await two.listen({ server: 'shared', ...local }),
    ];
    port = ((first as { address: AddressInfo }).address as AddressInfo).port;
    const isSame = told.every((address) => address.port === port);
    return [withoutPort(first), withoutPort(second), isSame, told.map(({ address }) => address)];
  },
  'connections go to both workers': () => workersOf({ port }),
  async 'a request knows both ends of its connection'() {
    const { from, seen } = await get({ port });
    return [seen.remoteAddress, seen.remotePort === from, seen.localPort === port];
  },
  async 'requests of a connection stay with its worker'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const seen: Seen[] = [];
    for (let left = 4; left > 0; left--) seen.push((await get({ port }, agent)).seen);
    agent.destroy();
    const isSame = seen.every(({ worker }) => worker === seen[0]!.worker);
    return [isSame, seen.every(({ connections }) => connections === seen[0]!.connections)];
  },
  'an upgrade and a tunnel': async () => [
    await talk(
      port,
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\none',
      /one$/,
      'two',
      /two$/,
      leave,
    ),
    await talk(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', /\r\n\r\n$/, 'x', /x$/, leave),
  ],
  'refused bytes, and a client that ends its side': async () => [
    await talk(port, 'GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n'),
    (await talk(port, head, 'FIN')).end,
  ],
  async 'connections that end before their worker has them'() {
    for (let left = 12; left > 0; left--) {
      const socket = connect(port);
      await once(socket, 'connect');
      socket.resetAndDestroy();
    }
    const workers = await workersOf({ port });
    await waitForNone(one, two);
    return workers;
  },
  async 'descriptors of 40 connections are closed, in the primary too'() {
    await waitForNone(one, two);
    const before = await descriptors();
    for (let left = 10; left > 0; left--) await workersOf({ port }, 4);
    for (;;) {
      const after = await descriptors();
      if (after.every((count, index) => count <= before[index]!)) return 'closed';
      await moment(5);
    }
  },
  async 'a Unix socket'() {
    const path = join(folder, 'socket');
    const listened = [
      await one.listen({ server: 'unix', path }),
      await two.listen({ server: 'unix', path }),
    ];
    const { seen } = await get({ socketPath: path });
    return [
      listened.map(withoutPort),
      seen.remoteAddress,
      await workersOf({ socketPath: path }),
      await talk(
        { path },
        'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\none',
        /one$/,
        leave,
      ),
    ];
  },
  async 'exclusive: a port of its own'() {
    const first = await one.listen({ server: 'exclusive', exclusive: true, ...local });
    const { port: own } = (first as { address: AddressInfo }).address as AddressInfo;
    const second = await two.listen({ ...local, server: 'other', exclusive: true, port: own });
    const workers = await workersOf({ port: own }, 2);
    // The primary does not know it, and a worker that disconnects does not close it.
    await one.ask('close', 'exclusive');
    return [withoutPort(first), withoutPort(second), workers];
  },
  async 'a worker at its limit leaves connections to the other'() {
    const at = await freePort();
    await one.listen({ server: 'limited', max: 1, ...local, port: at });
    await two.listen({ server: 'limited', ...local, port: at });
    const sockets: Socket[] = [];
    const ids: number[] = [];
    for (let left = 5; left > 0; left--) {
      const socket = connect(at);
      sockets.push(socket);
      const came = once(socket, 'data');
      socket.write(head);
      ids.push(Number(/"worker":(\d)/.exec(String(await came))![1]));
    }
    for (const socket of sockets) socket.destroy();
    return ids.toSorted((a, b) => a - b);
  },
  async 'dropMaxConnection: a worker at its limit drops them'() {
    const options = { server: 'dropping', max: 1, drops: true, ...local };
    const dropping = await one.listen(options);
    const { port: at } = (dropping as { address: AddressInfo }).address as AddressInfo;
    const first = connect(at);
    first.write(head);
    await once(first, 'data');
    const { received, end } = await talk(at);
    const keys = ['Address', 'Port', 'Family'];
    const all = ['local', 'remote'].flatMap((side) => keys.map((key) => side + key));
    await one.heard('drop', 'dropping', all);
    first.destroy();
    return [received, end];
  },
  async 'a server that a worker is sent'() {
    const server = net.createServer().listen(local);
    await once(server, 'listening');
    const { port: at } = server.address() as AddressInfo;
    const listened = await one.ask('listen', { server: 'given' }, server as never);
    server.close();
    await once(server, 'close');
    const workers = await workersOf({ port: at });
    await one.ask('close', 'given');
    return [withoutPort(listened), workers];
  },
  async 'sticky: the primary reads the head and sends the socket'() {
    const server = net.createServer({ pauseOnConnect: true }, (socket) => {
      socket.once('data', (data) => {
        socket.pause();
        void two.ask('sticky', String(data), socket as never);
      });
      socket.resume();
    });
    server.listen(local);
    await once(server, 'listening');
    const { port: at } = server.address() as AddressInfo;
    const workers = await workersOf({ port: at }, 3);
    server.close();
    return workers;
  },
  async 'sticky, with an HTTP server in the primary'() {
    const { createServer } = process.argv[2] === 'node' ? http : await import('../../src/index.ts');
    const server = createServer();
    // As @socket.io/sticky does.
    server.on('connection', (socket: Socket) => {
      socket.removeAllListeners('data');
      socket.on('data', (data) => {
        void two.ask('sticky', String(data), socket as never);
      });
    });
    server.listen(local);
    await once(server, 'listening');
    const { port: at } = server.address() as AddressInfo;
    const workers = await workersOf({ port: at }, 3);
    server.close();
    return workers;
  },
  async 'the socket of a request is sent to the primary'() {
    const answered = talk(port, head.replace('/', '/send'));
    const [sender] = await teller('sent');
    sender
      .takeSocket()
      .end('HTTP/1.1 200 OK\r\nContent-Length: 16\r\nConnection: close\r\n\r\nfrom the primary');
    return await answered;
  },
  async 'a server of one worker closes: what it has begun is answered, what comes is the other’s'() {
    const at = await freePort();
    for (const hand of [one, two]) await hand.listen({ server: 'again', ...local, port: at });
    const began = talk(at, head.replace('/', '/held'), /released/, leave);
    while (!one.has('held', 'again') && !two.has('held', 'again')) await moment(5);
    const [closing, other] = one.has('held', 'again') ? [one, two] : [two, one];
    await closing.ask('close', 'again');
    const workers = await workersOf({ port: at });
    const isEarly = closing.has('close', 'again');
    await closing.ask('release');
    const { received } = await began;
    await closing.heard('close', 'again');
    const again = await closing.listen({ server: 'again', ...local, port: at });
    const isOther = workers.length === 1 && workers[0] === other.worker.id;
    return [isOther, isEarly, received, withoutPort(again), await workersOf({ port: at })];
  },
  async 'a worker that disconnects answers what it has begun'() {
    const began = talk(port, 'GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [holder] = await teller('held');
    const hands = [one, two];
    const gone: string[] = [];
    for (const { worker } of hands) {
      worker.on('disconnect', () => gone.push('disconnect'));
    }
    const exits = Promise.all(hands.map(({ worker }) => once(worker, 'exit')));
    one.worker.disconnect();
    void two.ask('disconnect');
    await holder.ask('release');
    const { received, end } = await began;
    return [
      await exits,
      gone,
      received,
      end,
      hands.map(({ worker }) => worker.exitedAfterDisconnect),
    ];
  },
  async 'a worker that is killed, and one that kills itself, with open connections'() {
    const three = new Hand();
    const four = new Hand();
    const at = await freePort();
    await three.listen({ server: 'shared', ...local, port: at });
    const first = talk(at, head, /"worker"/, 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
    await three.heard('held', 'shared');
    await four.listen({ server: 'shared', ...local, port: at });
    const exited = once(three.worker, 'exit');
    three.worker.process.kill('SIGKILL');
    const exit = await exited;
    const { end } = await first;
    const workers = await workersOf({ port: at });
    const last = once(four.worker, 'exit');
    const open = talk(at, head, /"worker"/, leave);
    await open;
    void four.ask('kill');
    return [exit, end, workers, await last];
  },
};

for (const [name, behave] of Object.entries(behaviours)) {
  console.log(JSON.stringify([name, await behave()]));
}
console.log(JSON.stringify(['engines', [...engines]]));
rmSync(folder, { recursive: true });
process.exit();
