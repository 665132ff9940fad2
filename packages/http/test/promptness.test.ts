// A response leaves when it is given, whatever else JavaScript has to do.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { engine } from '../src/index.ts';
import { connect, Line } from './conformance/wire.ts';
import type { BusyServer } from './promptness/busy-server.ts';
import { until } from '@redline/services/until';

const servers = [{ name: 'node:http', isNative: false, isThreaded: false }];
if (engine().name === 'native') {
  servers.push({ name: '@redline/http', isNative: true, isThreaded: false });
  servers.push({ name: '@redline/http, threaded', isNative: true, isThreaded: true });
}
const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;

for (const { name, isNative, isThreaded } of servers) {
  describe(`${name}, with handlers that keep it busy`, { timeout: 600_000 }, () => {
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const held = new Int32Array(new SharedArrayBuffer(4));
    let worker: Worker;
    let port = 0;
    let lines: Line[] = [];

    before(async () => {
      const workerData: BusyServer = { isNative, isThreaded, signal, held };
      worker = new Worker(join(import.meta.dirname, 'promptness/busy-server.ts'), { workerData });
      [port] = await once(worker, 'message');
    });
    after(() => worker.terminate());
    afterEach(async () => {
      tell(2);
      // It has gone on before the next test holds it again.
      await open();
      for (const { socket } of lines) socket.destroy();
      lines = [];
    });

    function tell(what: number): void {
      Atomics.store(signal, 0, what);
      Atomics.notify(signal, 0);
    }

    async function open(): Promise<Line> {
      const line = new Line(connect(port));
      lines.push(line);
      await once(line.socket, 'connect');
      // The server has it, too.
      line.socket.write(get('/answer'));
      assert.ok(await line.until(/answered/));
      return line;
    }

    /** Resolves while a handler keeps the server from reading anything. */
    async function hold({ socket }: Line): Promise<void> {
      tell(0);
      socket.write(get('/hold'));
      await until('it is held', () => Atomics.load(held, 0) !== 0);
    }

    /** Writes requests on connections of their own while the server is held, so that it finds all of them at once. */
    async function atOnce(count: number, target: string): Promise<Line[]> {
      const holder = await open();
      const others = await Promise.all(Array.from({ length: count }, open));
      await hold(holder);
      await Promise.all(
        others.map(({ socket }) => new Promise((resolve) => socket.write(get(target), resolve))),
      );
      tell(1);
      assert.ok(await holder.until(/true/));
      return others;
    }

    /** Resolves once `text` has come so many times on so many lines. */
    async function arrived(all: Line[], text: string, times: number, count: number) {
      const has = ({ received }: Line) => received.split(text).length > times;
      await until(`${count} have ${text}`, () => all.filter(has).length >= count);
    }

    for (const count of [2, 12, 40]) {
      test(`of ${count} requests at once all that are answered before the last one blocks arrive`, async () => {
        const all = await atOnce(count, `/last-of/${count}`);
        await arrived(all, 'answered', 2, count - 1);
        tell(2);
        await arrived(all, 'answered', 2, count);
      });
    }

    test('work behind a response does not hold it back', async () => {
      tell(0);
      const line = await open();
      line.socket.write(get('/answer-and-block'));
      assert.ok(await line.until(/answered/));
    });

    test('nor behind one that is given outside of a request', async () => {
      tell(0);
      const line = await open();
      line.socket.write(get('/answer-later-and-block'));
      assert.ok(await line.until(/answered/));
    });

    test('nor behind a piece of a response that goes on', async () => {
      tell(0);
      const line = await open();
      line.socket.write(get('/write-and-block'));
      assert.ok(await line.until(/ written/));
    });

    test('promises of the first requests do not wait for the handlers of the last', async () => {
      const all = await atOnce(20, '/promise/20');
      // How many are handled before their promises are settled is a matter of the clock.
      await arrived(all, 'answered', 2, 1);
      tell(2);
      await arrived(all, 'answered', 2, 20);
    });

    // With node:http all sockets that are ready are read first.
    if (isNative) {
      test('a timer is not kept waiting by a flood of pipelined requests', async () => {
        const holder = await open();
        const flood = await Promise.all(Array.from({ length: 40 }, open));
        await hold(holder);
        await Promise.all(
          flood.map(
            ({ socket }) =>
              new Promise((resolve) => socket.write(get('/toil/0.2').repeat(50), resolve)),
          ),
        );
        tell(2);
        assert.ok(await holder.until(/true/));
        await arrived(flood, 'HTTP/1.1 200', 51, flood.length);
        assert.ok(flood.some((line) => line.received.includes('the timer was first')));
      });
    }
  });
}
