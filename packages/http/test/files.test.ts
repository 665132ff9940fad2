// Files leave by the kernel, whoever sends them, and whatever becomes of the client.
import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import * as node from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import * as redline from '../src/index.ts';
import { moment, serve, type HttpModule } from './conformance/engine.ts';
import { untilOver } from './conformance/slow-reader.ts';
import { until } from '@redline/services/until';
import { connect } from './conformance/wire.ts';
import { ways } from './files/served-files.ts';

const isNative = redline.engine().name === 'native';
const ours = redline as unknown as HttpModule;
const folder = fs.mkdtempSync(join(tmpdir(), 'redline-http-files-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

const MIB = 1024 * 1024;
const size = 8 * MIB + 5;
const file = join(folder, 'file');
const content = Buffer.alloc(size);
for (let at = 0; at + 4 <= size; at += 4) content.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
fs.writeFileSync(file, content);
/** The most that the kernel keeps of a response for a client that does not read: its own and the client's buffer. */
const keptByKernel = ['wmem', 'rmem'].reduce((sum, each) => {
  const [, , most] = fs.readFileSync(`/proc/sys/net/ipv4/tcp_${each}`, 'utf8').split(/\s+/);
  return sum + Number(most);
}, 0);
/** More than that, most of it a hole. */
const large = join(folder, 'file-large');
const largeContent = Buffer.alloc(keptByKernel + size);
content.copy(largeContent);
fs.writeFileSync(large, content);
fs.truncateSync(large, largeContent.length);
/** 64 KiB each. */
const readsOfNode = size / 65_536;

function ask(port: number, headers: Record<string, string> = {}, path = '/file'): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = node.get({ port, path, headers, agent: false }, async (response) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of response) parts.push(part as Buffer);
        resolve(Buffer.concat(parts));
      } catch (error) {
        reject(error as Error);
      }
    });
    request.on('error', reject);
  });
}

/** How many operations of files are begun meanwhile. */
async function counting<T>(act: () => Promise<T>): Promise<{ result: T; operations: number }> {
  let operations = 0;
  const hook = createHook({
    init: (_, type) => void (operations += Number(type === 'FSREQCALLBACK')),
  });
  hook.enable();
  try {
    return { result: await act(), operations };
  } finally {
    hook.disable();
  }
}

function openCopies(): number {
  const all = fs.readdirSync('/proc/self/fd').map((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return all.filter((target) => target.startsWith(file)).length;
}

describe('files by the kernel', { skip: !isNative, timeout: 600_000 }, () => {
  for (const [name, prepare] of Object.entries(ways)) {
    test(`${name}: the kernel sends what is behind the first read`, async () => {
      const listener = await prepare(file);
      await using serving = await serve(ours, {}, listener);
      const { result, operations } = await counting(() => ask(serving.port));
      assert.ok(result.equals(content));
      assert.ok(operations < readsOfNode / 4, `${operations} operations`);
    });
  }

  test('a range that a client asks for', async () => {
    const listener = await ways['send']!(file);
    await using serving = await serve(ours, {}, listener);
    const range = { Range: `bytes=1000-${5 * MIB}` };
    const { result, operations } = await counting(() => ask(serving.port, range));
    assert.ok(result.equals(content.subarray(1000, 5 * MIB + 1)));
    assert.ok(operations < readsOfNode / 4, `${operations} operations`);
  });

  test('an engine with a thread', async () => {
    await using serving = await serve(ours, { threaded: true } as never, (_, response) => {
      fs.createReadStream(file).pipe(response);
    });
    const { result, operations } = await counting(() => ask(serving.port));
    assert.ok(result.equals(content));
    assert.ok(operations < readsOfNode / 4, `${operations} operations`);
  });

  test('a worker thread', async () => {
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      const fs = require('node:fs');
      import(workerData.module).then(({ createServer }) => {
        const server = createServer((_, response) => fs.createReadStream(workerData.file).pipe(response));
        server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
      });`;
    const module = import.meta.resolve('../src/index.ts');
    const worker = new Worker(source, { eval: true, workerData: { module, file } });
    const [port] = (await once(worker, 'message')) as [number];
    assert.ok((await ask(port)).equals(content));
    await worker.terminate();
  });

  test('a file that is not in memory is read as on Node, and all of it comes', async () => {
    const cold = join(folder, 'cold');
    fs.writeFileSync(cold, content);
    execFileSync('sync', [cold]);
    // Its pages leave memory, where the file system has any to leave for.
    execFileSync('dd', [`if=${cold}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
    await using serving = await serve(ours, {}, (_, response) => {
      fs.createReadStream(cold).pipe(response);
    });
    assert.ok((await ask(serving.port)).equals(content));
  });

  test('a hundred clients that hardly read hold no thread, and no copy once they are gone', async () => {
    await using serving = await serve(ours, {}, (_, response) => {
      response.setHeader('Content-Length', largeContent.length);
      pipeline(fs.createReadStream(large), response, () => {});
    });
    assert.ok((await ask(serving.port)).equals(largeContent));
    const threads = fs.readdirSync('/proc/self/task').length;
    const clients = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(serving.port);
        socket.write('GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        const [first] = (await once(socket, 'data')) as [Buffer];
        socket.pause();
        return { socket, first };
      }),
    );
    await until('their files are open', () => openCopies() >= 100);
    const most = fs.readdirSync('/proc/self/task').length;
    assert.ok(most <= threads, `${threads} threads, then ${most}`);
    const [some, others] = [clients.slice(0, 4), clients.slice(4)];
    for (const { socket, first } of some) {
      assert.ok((await restOf(socket, first)).equals(largeContent));
    }
    for (const { socket } of others) socket.destroy();
    await until('the file is closed', () => openCopies() === 0);
  });

  test('clients that reset in the middle leave nothing open', async () => {
    let closed = 0;
    await using serving = await serve(ours, {}, (_, response) => {
      const stream = fs.createReadStream(file);
      stream.pipe(response);
      response.on('close', () => {
        stream.destroy();
        closed += 1;
      });
    });
    for (let count = 0; count < 20; count++) {
      const socket = connect(serving.port);
      socket.write('GET /file HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    await until('all are closed', () => closed === 20 && openCopies() === 0);
    assert.ok((await ask(serving.port)).equals(content));
  });

  test('a client that is killed in the middle leaves nothing open', async () => {
    await using serving = await serve(ours, {}, (_, response) => {
      const stream = fs.createReadStream(large);
      stream.pipe(response);
      response.on('close', () => stream.destroy());
    });
    const program = `require('node:net').connect(${serving.port}, '127.0.0.1')
      .once('data', function () { this.pause(); console.log('begun'); })
      .write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');`;
    const client = spawn(process.execPath, ['-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(client.stdout!, 'data');
    assert.ok(openCopies() > 0);
    client.kill('SIGKILL');
    await until('the file is closed', () => openCopies() === 0);
  });

  test('a client hears the end of a response whose file was cut short below its length', async () => {
    const short = join(folder, 'short');
    const { length } = largeContent;
    fs.writeFileSync(short, content);
    fs.truncateSync(short, length);
    await using serving = await serve(ours, {}, (_, response) => {
      response.setHeader('Content-Length', length);
      response.shouldKeepAlive = false;
      fs.createReadStream(short).pipe(response);
    });
    const socket = connect(serving.port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    // Nothing says that the kernel waits for the reader by now.
    await moment(50);
    fs.truncateSync(short, length - MIB);
    const received = await restOf(socket, first);
    assert.ok(received.length < length);
  });

  test('nothing of a file is sent by a descriptor that means another to the kernel', async () => {
    // As a mock below `fs` has it: the numbers are its own.
    const other = join(folder, 'other');
    fs.writeFileSync(other, content);
    const binding = (
      process as never as { binding(name: string): Record<string, unknown> }
    ).binding('fs');
    const { fstat } = binding as { fstat: (...given: unknown[]) => Float64Array };
    let asked = 0;
    binding['fstat'] = (...given: unknown[]) => {
      const stat = fstat(...given);
      // Its number on the device.
      if (stat !== undefined && stat.length > 8) {
        asked += 1;
        stat[7] = Number(stat[7]) + 1;
      }
      return stat;
    };
    try {
      await using serving = await serve(ours, {}, (_, response) => {
        fs.createReadStream(other).pipe(response);
      });
      const { result, operations } = await counting(() => ask(serving.port));
      assert.ok(result.equals(content));
      assert.ok(asked > 0);
      assert.ok(operations > readsOfNode, `${operations} operations`);
    } finally {
      binding['fstat'] = fstat;
    }
  });

  for (const withLength of [true, false]) {
    const how = withLength ? 'with a length' : 'in chunks';
    test(`a disk that fails in the middle of a file, ${how}, is the same error as on Node`, (t) => {
      const library = join(folder, 'failing-disk.so');
      const source = join(import.meta.dirname, 'files/failing-disk.c');
      const built = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
      if (built.status !== 0)
        return t.skip('no C compiler builds the library that makes reads fail');
      const from = 3 * MIB + 1_234;
      const env = { LD_PRELOAD: library, FAILING_FILE: file, FAILING_FROM: String(from) };
      const byNode = serveOnce('node:http', file, { env, withLength });
      const byEngine = serveOnce(engineModule, file, { env, withLength });
      assert.deepEqual({ ...byEngine, operations: 0 }, { ...byNode, operations: 0 });
      assert.equal(byEngine.ended, 'EIO');
      assert.ok(byEngine.operations < byNode.operations / 2, 'the kernel sent none of it');
    });
  }

  test('a file of overlayfs, where containers have theirs', (t) => {
    const over = join(folder, 'over');
    for (const each of ['lower', 'upper', 'work', 'merged']) {
      fs.mkdirSync(join(over, each), { recursive: true });
    }
    fs.copyFileSync(file, join(over, 'lower/file'));
    const mount = `mount -t overlay overlay -o lowerdir=${over}/lower,upperdir=${over}/upper,workdir=${over}/work ${over}/merged`;
    const prefix = [
      'unshare',
      '--mount',
      '--map-root-user',
      'sh',
      '-c',
      `${mount} && exec "$@"`,
      'sh',
    ];
    const tried = spawnSync(prefix[0]!, [...prefix.slice(1), 'true'], { encoding: 'utf8' });
    if (tried.status !== 0)
      return t.skip(`nothing may be mounted here: ${tried.stderr ?? tried.error}`);
    const merged = join(over, 'merged/file');
    const byNode = serveOnce('node:http', merged, { prefix, withLength: true });
    const byEngine = serveOnce(engineModule, merged, { prefix, withLength: true });
    assert.deepEqual({ ...byEngine, operations: 0 }, { ...byNode, operations: 0 });
    assert.equal(byEngine.bytes, size);
    t.diagnostic(`${byEngine.operations} operations of ${byNode.operations}`);
  });

  test('REDLINE_HTTP_FILES=node leaves files to their streams', async () => {
    const program = `
      import { createHook } from 'node:async_hooks';
      import fs from 'node:fs';
      import { createServer } from ${JSON.stringify(import.meta.resolve('../src/index.ts'))};
      let operations = 0;
      createHook({ init: (_, type) => void (operations += Number(type === 'FSREQCALLBACK')) }).enable();
      const server = createServer((_, response) => fs.createReadStream(${JSON.stringify(file)}).pipe(response));
      server.listen(0, '127.0.0.1', async () => {
        const response = await fetch('http://127.0.0.1:' + server.address().port);
        console.log((await response.arrayBuffer()).byteLength, operations);
        process.exit();
      });`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, REDLINE_HTTP_FILES: 'node' },
      encoding: 'utf8',
    });
    const [length, operations] = output.split(' ').map(Number);
    assert.equal(length, size);
    assert.ok(operations! > readsOfNode);
  });
});

const engineModule = import.meta.resolve('../src/index.ts');

interface Served {
  readonly ended: string;
  readonly bytes: number;
  readonly operations: number;
}

/** What becomes of one response in a process of its own. */
function serveOnce(
  module: string,
  path: string,
  how: { env?: NodeJS.ProcessEnv; prefix?: string[]; withLength: boolean },
): Served {
  const program = join(import.meta.dirname, 'files/one-file.ts');
  const [command, ...args] = [
    ...(how.prefix ?? []),
    process.execPath,
    '--no-warnings',
    program,
    module,
    path,
    ...(how.withLength ? ['length'] : []),
  ];
  const env = { ...process.env, ...how.env };
  return JSON.parse(execFileSync(command!, args, { encoding: 'utf8', env })) as Served;
}

async function restOf(socket: Socket, first: Buffer): Promise<Buffer> {
  const parts = [first];
  socket.on('data', (part: Buffer) => parts.push(part));
  socket.on('error', () => {});
  socket.resume();
  await untilOver(socket);
  const all = Buffer.concat(parts);
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}
