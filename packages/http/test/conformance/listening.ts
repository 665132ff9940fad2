import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import * as node from 'node:http';
import type { Server } from 'node:http';
import { createServer as createNetServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  attempt,
  describeError,
  gate,
  moment,
  serve,
  untilNobody,
  type Behaviours,
  type HttpModule,
  type Listener,
} from './engine.ts';
import { connect, leave, Line, talk } from './wire.ts';

const hello: Listener = (_, response) => {
  response.end('hello');
};
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Listens, asks once at where it listens, closes. */
async function listens(http: HttpModule, ...args: unknown[]): Promise<unknown> {
  const server = http.createServer(hello);
  const failed = once(server, 'error').then(([error]) => describeError(error));
  const listening = once(server, 'listening').then(() => undefined);
  const before = [server.listening, server.address()];
  Reflect.apply(server.listen, server, args);
  const error = await Promise.race([failed, listening]);
  // Whichever did not come is no rejection of its own.
  failed.catch(() => {});
  listening.catch(() => {});
  if (error !== undefined) return { error, listening: server.listening };
  const address = server.address()!;
  const target =
    typeof address === 'string'
      ? { path: address }
      : { port: address.port, host: address.family === 'IPv6' ? '::1' : '127.0.0.1' };
  const conversation = await talk(target, last);
  const closed = once(server, 'close');
  server.close();
  await closed;
  return {
    before,
    address: typeof address === 'string' ? 'a path' : { ...address, port: address.port > 0 },
    conversation,
    after: [server.listening, typeof server.address()],
  };
}

export const listening: Behaviours = {
  'without arguments': (http) => listens(http),
  'port 0': (http) => listens(http, 0),
  'port 0 and a callback': async (http) => {
    const called = gate<unknown>();
    const outcome = await listens(http, 0, function callback(this: Server) {
      called.open(this.listening);
    });
    return [outcome, await called.opened];
  },
  'port and host': (http) => listens(http, 0, '127.0.0.1'),
  'port, host and backlog': (http) => listens(http, 0, '127.0.0.1', 10),
  'port and backlog': (http) => listens(http, 0, 10),
  localhost: (http) => listens(http, 0, 'localhost'),
  'port as text': (http) => listens(http, '0'),
  options: (http) => listens(http, { port: 0, host: '127.0.0.1', backlog: 5 }),
  IPv6: (http) => listens(http, { port: 0, host: '::1' }),
  'IPv6 only': (http) => listens(http, { port: 0, host: '::', ipv6Only: true }),
  exclusive: (http) => listens(http, { port: 0, host: '127.0.0.1', exclusive: true }),
  'reusePort: two servers, one port': async (http) => {
    const servers = [http.createServer(hello), http.createServer(hello)];
    servers[0]!.listen({ port: 0, host: '127.0.0.1', reusePort: true });
    await once(servers[0]!, 'listening');
    const { port } = servers[0]!.address() as AddressInfo;
    servers[1]!.listen({ port, host: '127.0.0.1', reusePort: true });
    await once(servers[1]!, 'listening');
    const answers = await Promise.all(Array.from({ length: 20 }, () => talk(port, last)));
    for (const server of servers) {
      server.close();
      await once(server, 'close');
    }
    return answers;
  },
  'a Unix socket': async (http) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-http-'));
    try {
      return await listens(http, join(folder, 'server.sock'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  'a Unix socket, in options': async (http) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-http-'));
    try {
      return await listens(http, { path: join(folder, 's'), readableAll: true, writableAll: true });
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  'the peer of a Unix socket': async (http) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-http-'));
    const path = join(folder, 's');
    const server = http.createServer((request, response) => {
      const { remoteAddress, remotePort, localAddress } = request.socket;
      response.end(
        JSON.stringify([remoteAddress ?? null, remotePort ?? null, localAddress ?? null]),
      );
    });
    server.listen(path);
    await once(server, 'listening');
    const conversation = await talk({ path }, last);
    server.close();
    await once(server, 'close');
    rmSync(folder, { recursive: true });
    return conversation;
  },
  'an abstract Unix socket': (http) =>
    listens(http, `\0redline-http-${process.pid}-${Math.random()}`),
  'a descriptor': async (http) => {
    // In a process of its own: a descriptor of this one is already watched by this loop.
    const holder = createNetServer();
    holder.listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const handle = (holder as unknown as { _handle: { fd: number } })._handle;
    const name = http === node ? 'node' : 'redline';
    const child = spawn(process.execPath, [join(import.meta.dirname, 'on-descriptor.ts'), name], {
      stdio: ['ignore', 'pipe', 'inherit', handle.fd],
    });
    const [said] = (await once(child.stdout!, 'data')) as [Buffer];
    holder.close();
    const conversation = await talk(port, last);
    child.kill();
    await once(child, 'exit');
    return [said.toString().replace(String(port), 'PORT'), conversation];
  },
  'another server': async (http) => {
    const holder = createNetServer();
    holder.listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const server = http.createServer(hello);
    server.listen(holder);
    await once(server, 'listening');
    const answers = [(server.address() as AddressInfo).port === port];
    server.close();
    await once(server, 'close');
    return answers;
  },
  'a port in use': async (http) => {
    const holder = createNetServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const outcome = JSON.stringify(await listens(http, port, '127.0.0.1')).replaceAll(
      String(port),
      'PORT',
    );
    holder.close();
    return outcome;
  },
  'a host that is not there': (http) => listens(http, 0, '192.0.2.1'),
  'a descriptor that is none': (http) => listens(http, { fd: 12_345 }),
  'a path nobody may write': (http) => listens(http, '/nowhere/at/all'),
  'arguments that are refused': (http) =>
    [
      [65_536],
      [-1],
      ['x'.repeat(300)],
      [{ port: -1 }],
      [{ port: 'abc' }],
      [{}],
      [{ host: 'a' }],
      [null],
      [undefined],
      [Number.NaN],
      [0.5],
      [true],
      [{ port: 0, backlog: 'x' }],
    ]
      .filter(([first]) => first !== null && first !== undefined && !(typeof first === 'string'))
      .map((args) => {
        const server = http.createServer(hello);
        server.on('error', () => {});
        const outcome = attempt(() => Reflect.apply(server.listen, server, args));
        server.close();
        return [args, outcome];
      }),
  'listening twice': async (http) => {
    await using serving = await serve(http, {}, hello);
    return attempt(() => serving.server.listen(0));
  },
  'listening again after a close': async (http) => {
    const server = http.createServer(hello);
    const answers: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      answers.push(await talk((server.address() as AddressInfo).port, last));
      server.close();
      await once(server, 'close');
    }
    return answers;
  },
  'an AbortSignal closes': async (http) => {
    const controller = new AbortController();
    const server = http.createServer(hello);
    server.listen({ port: 0, host: '127.0.0.1', signal: controller.signal });
    await once(server, 'listening');
    const closed = once(server, 'close');
    controller.abort();
    await closed;
    return server.listening;
  },
  'closing what does not listen': async (http) => {
    const told = gate<unknown>();
    const server = http.createServer(hello);
    server.close((error) => told.open(describeError(error)));
    return await told.opened;
  },
  'the callback of close': async (http) => {
    const told = gate<unknown>();
    const serving = await serve(http, {}, hello);
    const order: string[] = [];
    serving.server.on('close', () => order.push('event'));
    const returned = serving.server.close((error) => {
      order.push('callback');
      told.open(error === undefined);
    });
    return [await told.opened, order, returned === serving.server];
  },
  'await using a server': async (http) => {
    const server = http.createServer(hello);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await server[Symbol.asyncDispose]();
    return server.listening;
  },
  'close drains: the answer that is due still comes': async (http) => {
    const arrived = gate<() => void>();
    const serving = await serve(http, { keepAliveTimeout: 100 }, (_, response) => {
      arrived.open(() => response.end('drained'));
    });
    const line = new Line(connect(serving.port));
    line.socket.write(get);
    const answer = await arrived.opened;
    const closed = once(serving.server, 'close');
    const { port } = serving;
    serving.server.close();
    const refused = await once(connect(port), 'connect').catch(
      (error: NodeJS.ErrnoException) => error.code,
    );
    answer();
    await line.untilClosed();
    await closed;
    line.socket.destroy();
    return { received: line.received, refused };
  },
  'close ends idle connections at once': async (http) => {
    const serving = await serve(http, { keepAliveTimeout: 60_000 }, hello);
    const lines = [1, 2, 3].map(() => new Line(connect(serving.port)));
    for (const line of lines) {
      line.socket.write(get);
      await line.until(/hello/);
    }
    const closed = once(serving.server, 'close');
    serving.server.close();
    const ends = await Promise.all(lines.map((line) => line.untilClosed()));
    for (const line of lines) line.socket.end();
    await closed;
    return ends;
  },
  closeIdleConnections: async (http) => {
    const arrived = gate<() => void>();
    await using serving = await serve(http, { keepAliveTimeout: 60_000 }, (request, response) => {
      if (request.url === '/slow') arrived.open(() => response.end('slow'));
      else response.end('hello');
    });
    const idle = new Line(connect(serving.port));
    idle.socket.write(get);
    await idle.until(/hello/);
    const silent = new Line(connect(serving.port));
    await once(silent.socket, 'connect');
    const busy = new Line(connect(serving.port));
    busy.socket.write(get.replace('/', '/slow'));
    const answer = await arrived.opened;
    serving.server.closeIdleConnections();
    const idleEnded = await idle.untilClosed();
    idle.socket.end();
    answer();
    const answered = await busy.until(/slow/);
    const outcome = { idleEnded, answered, busyClosed: busy.closed };
    silent.socket.destroy();
    busy.socket.destroy();
    return outcome;
  },
  // From Node 26 on those that have sent nothing are idle.
  'closeIdleConnections before the first request': async (http) => {
    const outcome: Record<string, boolean> = {};
    const sent = { nothing: '', 'an empty line': '\r\n', 'half a head': 'GET / HT' };
    for (const [what, bytes] of Object.entries(sent)) {
      await using serving = await serve(http, {}, (_, response) => response.end('hello'));
      const line = new Line(connect(serving.port));
      await once(line.socket, 'connect');
      line.socket.write(bytes);
      // A request on another connection shows that the server has read the bytes.
      await serving.talk(get, /hello/, leave);
      await moment(50);
      serving.server.closeIdleConnections();
      // Its client has seen the end by the time that others have been served.
      for (let turn = 0; turn < 3; turn++) await serving.talk(last);
      await moment(50);
      outcome[what] = line.closed;
      line.socket.destroy();
    }
    return outcome;
  },
  closeAllConnections: async (http) => {
    await using serving = await serve(http, { keepAliveTimeout: 60_000 }, () => {});
    const arrived = once(serving.server, 'request');
    const busy = new Line(connect(serving.port));
    busy.socket.write(get);
    await arrived;
    serving.server.closeAllConnections();
    const ended = await busy.untilClosed();
    busy.socket.destroy();
    return { ended, listening: serving.server.listening, again: typeof serving.port };
  },
  getConnections: async (http) => {
    await using serving = await serve(http, { keepAliveTimeout: 60_000 }, hello);
    const count = () =>
      new Promise((resolve) => serving.server.getConnections((error, n) => resolve(error ?? n)));
    const counts: unknown[] = [await count()];
    const lines = [1, 2, 3].map(() => new Line(connect(serving.port)));
    for (const line of lines) {
      line.socket.write(get);
      await line.until(/hello/);
    }
    counts.push(await count());
    for (const line of lines) line.socket.destroy();
    await untilNobody(serving.server);
    counts.push(await count());
    return counts;
  },
  'several servers in one process': async (http) => {
    const servers = await Promise.all(
      [1, 2, 3].map((n) => serve(http, {}, (_, response) => response.end(`server ${n}`))),
    );
    const answers = await Promise.all(servers.map((each) => each.talk(last)));
    await servers[1]![Symbol.asyncDispose]();
    answers.push(await servers[0]!.talk(last), await servers[2]!.talk(last));
    for (const each of servers) await each[Symbol.asyncDispose]();
    return answers;
  },
  'forms of createServer': (http) => [
    attempt(() => http.createServer().listenerCount('request')),
    attempt(() => http.createServer(hello).listenerCount('request')),
    attempt(() => http.createServer({}).listenerCount('request')),
    attempt(() => http.createServer({}, hello).listenerCount('request')),
    attempt(() => http.createServer(undefined as never, hello).listenerCount('request')),
    attempt(() => http.createServer({}, 'x' as never)),
  ],
  'listeners may come later, be several, be once': async (http) => {
    await using serving = await serve(http, {});
    const log: string[] = [];
    serving.server.once('request', () => log.push('once'));
    serving.server.on('request', (request) => log.push(`first ${request.url}`));
    serving.server.on('request', (_, response) => response.end('second'));
    return [await serving.talk(get, /second/, get, /second/, leave), log];
  },
};
