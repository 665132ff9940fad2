import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http, { type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@redline/services';
import {
  createServer,
  engine,
  proxyHeaderOf,
  type EngineServerOptions,
  type ProxyHeader,
} from '../src/index.ts';

const skip = engine().name === 'node';
const local = { from: ['127.0.0.0/8', '::1'] };
const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 12345 80\r\n';
const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const last = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v4 = Buffer.from([203, 0, 113, 7, 192, 0, 2, 1, 0x30, 0x39, 0, 80]);

function binary(command: number, family: number, rest: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(rest.length);
  return Buffer.concat([signature, Buffer.from([command, family]), length, rest]);
}

/** Both ends, as a socket has them. */
function endsOf(socket: Socket): unknown[] {
  const { remoteAddress, remotePort, remoteFamily } = socket;
  const { localAddress, localPort, localFamily } = socket;
  return [remoteAddress, remotePort, remoteFamily, localAddress, localPort, localFamily];
}

const theirs = ['203.0.113.7', 12345, 'IPv4', '192.0.2.1', 80, 'IPv4'];

class Behind implements AsyncDisposable {
  readonly server: Server;
  readonly errors: NodeJS.ErrnoException[] = [];

  constructor(server: Server) {
    this.server = server;
  }

  static async start(options: EngineServerOptions = {}, path?: string): Promise<Behind> {
    const server = createServer({ proxyProtocol: local, ...options }, (request, response) => {
      const header = proxyHeaderOf(request.socket);
      response.end(JSON.stringify({ ends: endsOf(request.socket), header }));
    });
    const listening = once(server, 'listening');
    if (path === undefined) server.listen(0, '127.0.0.1');
    else server.listen(path);
    await listening;
    return new Behind(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** What comes back for these bytes, until the end. */
  async send(...pieces: (string | Buffer)[]): Promise<string> {
    const client = connect(this.port, '127.0.0.1');
    client.setNoDelay();
    client.on('error', () => {});
    let received = '';
    client.on('data', (chunk) => (received += chunk));
    for (const piece of pieces) client.write(piece);
    // A reset is an end too: `once` would take it for a failure.
    await new Promise((resolve) => client.once('close', resolve));
    return received;
  }

  async ask(...pieces: (string | Buffer)[]): Promise<{ ends: unknown[]; header: ProxyHeader }> {
    const received = await this.send(...pieces);
    return JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

for (const threaded of [false, true]) {
  const how = threaded ? ' (threaded)' : '';
  describe(`a server behind a proxy${how}:`, { skip, timeout: 600_000 }, () => {
    test('the ends of a socket are those of its client', async () => {
      await using behind = await Behind.start({ threaded });
      const first = await behind.ask(line + last);
      assert.deepEqual(first.ends, theirs);
      assert.equal(first.header.version, 1);
      const { ends, header } = await behind.ask(binary(0x21, 0x11, v4), last);
      assert.deepEqual(ends, theirs);
      assert.equal(header.isProxied, true);
      assert.equal(header.proxy?.address, '127.0.0.1');
      const v6 = Buffer.alloc(36);
      v6.set([0x20, 0x01, 0x0d, 0xb8]);
      const six = await behind.ask(binary(0x21, 0x21, v6), last);
      assert.deepEqual(six.ends, ['2001:db8::', 0, 'IPv6', '::', 0, 'IPv6']);
    });

    test('every request of a connection has them, and so has its upgraded socket', async () => {
      await using behind = await Behind.start({ threaded });
      const upgraded = once(behind.server, 'upgrade');
      const client = connect(behind.port, '127.0.0.1');
      client.write(line + get);
      await once(client, 'data');
      client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n');
      const [request, socket] = (await upgraded) as [IncomingMessage, Socket];
      assert.deepEqual(endsOf(socket), theirs);
      assert.equal(request.socket, socket);
      assert.equal(proxyHeaderOf(socket)?.version, 1);
      socket.destroy();
      client.destroy();
    });

    test('"connection" comes with them', async () => {
      await using behind = await Behind.start({ threaded });
      const connected = once(behind.server, 'connection');
      const client = connect(behind.port, '127.0.0.1');
      client.write(line);
      const [socket] = (await connected) as [Socket];
      assert.deepEqual(endsOf(socket), theirs);
      client.destroy();
    });

    test('connections of the proxy’s own, and of clients it does not know, have the real ends', async () => {
      await using behind = await Behind.start({ threaded });
      for (const header of [binary(0x20, 0, Buffer.alloc(0)), 'PROXY UNKNOWN\r\n']) {
        const { ends, header: said } = await behind.ask(header, last);
        assert.equal(ends[0], '127.0.0.1');
        assert.equal(ends[4], behind.port);
        assert.equal(said.isProxied, false);
      }
    });

    test('what has no valid header is an error of the client', async () => {
      await using behind = await Behind.start({ threaded });
      for (const bytes of [last, 'PROXY TCP4 1.2.3.4\r\n', binary(0x21, 0x12, v4)]) {
        assert.match(await behind.send(bytes), /^HTTP\/1\.1 400 Bad Request\r\n/);
      }
      const failed = once(behind.server, 'clientError');
      behind.server.on('clientError', (_, socket) => socket.destroy());
      const wrong = Buffer.concat([v4, Buffer.from([3, 0, 4, 0, 0, 0, 0])]);
      assert.equal(await behind.send(binary(0x21, 0x11, wrong), last), '');
      const [error] = (await failed) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ERR_REDLINE_HTTP_PROXY');
      assert.match(error.message, /PROXY protocol: its checksum is wrong$/);
    });

    test('a header that does not come in time ends its connection', async () => {
      const proxyProtocol = { ...local, timeoutMs: 20 };
      await using behind = await Behind.start({ threaded, proxyProtocol, headersTimeout: 0 });
      assert.match(await behind.send('PROXY '), /^HTTP\/1\.1 408 /);
    });

    test('a connection from elsewhere is dropped, whatever it says', async () => {
      const proxyProtocol = { from: ['10.0.0.0/8', 'fd00::/8'] };
      await using behind = await Behind.start({ threaded, proxyProtocol });
      const dropped = once(behind.server, 'drop');
      assert.equal(await behind.send(line + last), '');
      const [data] = (await dropped) as [{ remoteAddress: string }];
      assert.equal(data.remoteAddress, '127.0.0.1');
    });

    test('`unix` trusts who connects to its socket', async (context) => {
      const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
      context.after(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'socket');
      const proxyProtocol = { from: ['unix'] };
      await using behind = await Behind.start({ threaded, proxyProtocol }, path);
      const answered = http.get({
        path: '/',
        createConnection: () => {
          const socket = connect(path);
          socket.write(line);
          return socket;
        },
      });
      const [response] = (await once(answered, 'response')) as [IncomingMessage];
      const { ends } = JSON.parse(String(Buffer.concat(await response.toArray())));
      assert.deepEqual(ends, theirs);
      assert.ok(behind.server.listening);
    });
  });
}

describe('the option proxyProtocol:', { skip }, () => {
  test('what cannot be meant is refused', () => {
    for (const proxyProtocol of [
      true,
      {},
      { from: [] },
      { from: '10.0.0.0/8' },
      { from: ['10.0.0.0/33'] },
      { from: ['10.0.0.0/8/8'] },
      { from: ['10.0.0.0/'] },
      { from: ['10.0.0.0/08'] },
      { from: ['localhost'] },
      { from: ['fe80::1%lo'] },
      { from: ['::/129'] },
      { from: [1] },
      { ...local, timeoutMs: -1 },
      { ...local, timeoutMs: 1.5 },
      { ...local, timeout: 1 },
    ]) {
      assert.throws(() => createServer({ proxyProtocol } as never), {
        code: 'ERR_REDLINE_HTTP_OPTION',
        message: /proxyProtocol/,
      });
    }
    createServer({
      proxyProtocol: { from: ['unix', '::1', 'fd00::/8', '0.0.0.0/0'], timeoutMs: 0 },
    });
  });

  test('where Node serves it throws: its server would take a proxy for the client', () => {
    assert.throws(() => createServer({ proxyProtocol: local, insecureHTTPParser: true }), {
      code: 'ERR_REDLINE_HTTP_OPTION',
      message: /needs the native engine: only Node supports insecureHTTPParser\./,
    });
    const program = `
      import { createServer } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
      try {
        createServer({ proxyProtocol: { from: ['::1'] } });
      } catch (error) {
        process.stdout.write(error.message);
      }`;
    const text = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, REDLINE_HTTP: 'node' },
      encoding: 'utf8',
    });
    assert.match(
      text,
      /^The option proxyProtocol needs the native engine: REDLINE_HTTP=node is set/,
    );
  });
});

/** A worker that has one descriptor left: for a connection, not for the engine's copy of it. */
const without = `
  import cluster from 'node:cluster';
  import { closeSync, openSync } from 'node:fs';
  import { connect } from 'node:net';
  import { createServer } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)};
  if (cluster.isPrimary) {
    const worker = cluster.fork();
    worker.on('message', (port) => {
      const client = connect(port, '127.0.0.1');
      client.on('error', () => {});
      client.on('data', (bytes) => process.stdout.write(bytes));
      client.on('close', () => worker.send('end'));
      client.end('GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n');
    });
    worker.on('exit', (code) => process.exit(code));
  } else {
    const proxyProtocol = { from: ['10.0.0.0/8'] };
    const server = createServer({ proxyProtocol }, (_, response) => response.end('served'));
    server.listen(0, '127.0.0.1', () => {
      const taken = [];
      try {
        for (;;) taken.push(openSync('/dev/null'));
      } catch {
        closeSync(taken.pop());
      }
      process.send(server.address().port);
    });
    process.on('message', () => process.exit(0));
  }`;

describe('a worker of node:cluster behind a proxy:', { skip, timeout: 600_000 }, () => {
  test('without a descriptor left it serves nobody that is not a proxy', (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
    context.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'main.mjs');
    writeFileSync(path, without);
    const script = 'ulimit -n 128; exec "$0" --no-warnings "$1"';
    const { stdout, stderr, status } = spawnSync('sh', ['-c', script, process.execPath, path], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    assert.equal(stdout, '');
  });
});

/** Asks from that address as soon as somebody listens. */
async function getOnceUp(
  port: number,
  localAddress: string,
): Promise<{ ownPort: number | undefined; text: string }> {
  for (;;) {
    const request = http.get({ port, host: '127.0.0.1', localAddress, agent: false });
    try {
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const ownPort = response.socket.localPort;
      return { ownPort, text: String(Buffer.concat(await response.toArray())) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await setTimeout(20);
    }
  }
}

const haproxy = spawnSync('haproxy', ['-v']).status === 0;

describe('behind HAProxy:', { skip: skip || !haproxy, timeout: 600_000 }, () => {
  for (const [version, how] of [
    [1, 'send-proxy'],
    [2, 'send-proxy-v2 proxy-v2-options crc32c,unique-id'],
  ] as const) {
    test(`version ${version}`, async (context) => {
      await using behind = await Behind.start();
      const folder = mkdtempSync(join(tmpdir(), 'haproxy-'));
      context.after(() => rmSync(folder, { recursive: true }));
      const port = await freePort();
      const path = join(folder, 'haproxy.cfg');
      writeFileSync(
        path,
        `global
  maxconn 100
defaults
  mode http
  timeout connect 60s
  timeout client 60s
  timeout server 60s
  unique-id-format id-%[src]
frontend front
  bind 127.0.0.1:${port}
  default_backend back
backend back
  server node 127.0.0.1:${behind.port} ${how}
`,
      );
      const proxy = spawn('haproxy', ['-db', '-f', path], { stdio: 'ignore' });
      context.after(() => proxy.kill());
      const { ownPort, text } = await getOnceUp(port, '127.0.0.99');
      const { ends, header } = JSON.parse(text);
      assert.deepEqual(ends, ['127.0.0.99', ownPort, 'IPv4', '127.0.0.1', port, 'IPv4']);
      assert.equal(header.version, version);
      assert.equal(header.proxy.address, '127.0.0.1');
      const types = (header.values as { type: number }[]).map(({ type }) => type);
      assert.deepEqual(types, version === 1 ? [] : [0x03, 0x05]);
    });
  }
});
