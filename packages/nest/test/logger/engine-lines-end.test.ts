import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { engine } from '@redline/http';
import type { LoggerModuleOptions } from '@redline/nest';

import type { Line } from './harness.js';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const FIXTURE = fileURLToPath(new URL('fixture-engine.js', import.meta.url));

/** How a test asks. */
interface Load {
  readonly depth?: number;
  readonly most?: number;
  readonly name?: string;
  /** Gets the body of each response. */
  readonly bodies?: Set<string>;
  readonly onAnswer?: () => void;
}

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly exited: Promise<unknown>;
}

const children: ChildProcess[] = [];
after(() => children.forEach((child) => child.kill('SIGKILL')));

async function run(threaded: boolean, options: LoggerModuleOptions = {}): Promise<Server> {
  const child = spawn(process.execPath, [FIXTURE, JSON.stringify({ threaded, options })], {
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  // One that a failed test leaves would keep this process.
  children.push(child);
  const exited = once(child, 'exit');
  const [port] = (await Promise.race([once(child, 'message'), exited])) as [number];
  return { child, port, exited };
}

const parse = (output: string): Line[] =>
  output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** Asks in pipelines of `depth`, until it is told to stop or the server is gone: the ids of the requests that were answered. */
async function load(
  port: number,
  paths: readonly string[],
  { depth = 10, most = Infinity, name = '', bodies, onAnswer }: Load,
): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const answered: string[] = [];
  let asked = 0;
  let seen = '';
  const ask = (): void => {
    let requests = '';
    for (let count = 0; count < depth && asked < most; count += 1) {
      const path = paths[asked % paths.length];
      requests += `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${name}${asked}\r\n\r\n`;
      asked += 1;
    }
    if (requests === '') socket.end();
    else socket.write(requests);
  };
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
    for (;;) {
      const end = /\r\n\r\n(kept|made)/.exec(seen);
      if (end === null) break;
      bodies?.add(end[1]!);
      seen = seen.slice(end.index + end[0].length);
      answered.push(`${name}${answered.length}`);
      onAnswer?.();
      if (answered.length === asked) ask();
    }
  });
  ask();
  await new Promise((resolve) => socket.on('close', resolve));
  return answered;
}

/** The last lines that nobody reads may still wait. */
async function answersAgain(port: number): Promise<void> {
  const end = performance.now() + 20_000;
  for (const bodies = new Set<string>(); !bodies.has('kept'); await sleep(20)) {
    await load(port, ['/kept'], { most: 10, bodies });
    assert.ok(performance.now() < end, 'JavaScript still answers');
  }
}

for (const threaded of [false, true]) {
  describe(
    `lines of the engine, threaded: ${threaded}`,
    { skip, timeout: 600_000, concurrency: 3 },
    () => {
      for (const ending of ['exit', 'throw', 'close', 'SIGTERM'] as const) {
        it(`outlast the process that ends by ${ending} under load`, async () => {
          const { child, port, exited } = await run(threaded);
          const output = text(child.stdout!);
          const names = ['a', 'b', 'c', 'd'];
          const { promise: isLoaded, resolve } = Promise.withResolvers<void>();
          let count = 0;
          const onAnswer = (): void => {
            count += 1;
            if (count === 1000) resolve();
          };
          const loads = names.map((name) => load(port, ['/kept'], { name, onAnswer }));
          await isLoaded;
          if (ending.startsWith('SIG')) child.kill(ending as NodeJS.Signals);
          else child.send(ending);
          const answered = (await Promise.all(loads)).flat();
          await exited;
          const logged = new Set(parse(await output).map(({ reqId }) => reqId));
          assert.deepEqual(
            answered.filter((id) => !logged.has(id)),
            [],
          );
        });
      }

      it('that nobody reads do not keep it from answering, and none is missing', async () => {
        const { child, port, exited } = await run(threaded);
        const most = 15_000;
        const bodies = new Set<string>();
        const answered = await load(port, ['/kept'], { depth: 100, most, bodies });
        assert.equal(answered.length, most);
        // The engine did, and left it to JavaScript when it had no more room for lines.
        assert.deepEqual([...bodies], ['kept', 'made']);
        const output = text(child.stdout!);
        child.send('close');
        await exited;
        const lines = parse(await output);
        assert.equal(lines.length, most);
        assert.equal(new Set(lines.map(({ reqId }) => reqId)).size, most);
      });

      for (const left of ['has left', 'stopped, and left later,']) {
        it(`whose reader ${left} do not keep it from answering`, async () => {
          const { child, port, exited } = await run(threaded);
          const most = 15_000;
          // While a write waits for the reader, a line of JavaScript has those of the engine gathered.
          if (left !== 'has left')
            await load(port, ['/kept', '/made'], { depth: 100, most: 3_000 });
          child.stdout!.destroy();
          // Three mebibytes of lines: more than may wait.
          const answered = await load(port, ['/kept'], { depth: 100, most });
          assert.equal(answered.length, most);
          await answersAgain(port);
          child.send('close');
          await exited;
          assert.equal(child.exitCode, 0);
        });
      }

      it('stand whole, and in the order of their times, among those of JavaScript', async () => {
        const folder = await mkdtemp(join(tmpdir(), 'redline-lines-'));
        const destination = join(folder, 'log');
        try {
          const { child, port, exited } = await run(threaded, { destination });
          const paths = ['/kept', '/kept', '/made', '/kept', '/made'];
          const names = ['a', 'b', 'c', 'd'];
          const loads = names.map((name) => load(port, paths, { name, most: 500, depth: 1 }));
          const answered = (await Promise.all(loads)).flat();
          assert.equal(answered.length, 2000);
          child.send('close');
          await exited;
          const lines = parse(await readFile(destination, 'utf8'));
          assert.equal(lines.length, 2000);
          // Two threads write: between the clock and the line of one comes the other.
          if (threaded) return;
          const times = lines.map(({ time }) => time as number);
          const back = times.filter((time, index) => index > 0 && time < times[index - 1]!);
          assert.deepEqual(back, []);
        } finally {
          await rm(folder, { recursive: true });
        }
      });
    },
  );
}

describe('lines of an engine with a thread', { skip, timeout: 600_000 }, () => {
  it('are those of answers given while JavaScript was busy, too', async () => {
    const { child, port, exited } = await run(true);
    const output = text(child.stdout!);
    child.send('block');
    const answered = await load(port, ['/kept'], { most: 2000 });
    child.send('close');
    await exited;
    assert.equal(answered.length, 2000);
    assert.equal(parse(await output).length, 2000);
  });

  it('are written before long when no other comes', async () => {
    const { child, port } = await run(true);
    const line = once(child.stdout!, 'data');
    await load(port, ['/kept'], { most: 1 });
    await line;
    child.kill('SIGKILL');
  });
});
