import assert from 'node:assert/strict';
import { ask } from '../ask.ts';
import { anyNumber, type Check, isType } from '../check.ts';

const profiles = ['async'];
/** Min share of the requested time: timers round down. */
const LEAST = 0.9;

async function expectWait(port: number, ms: number): Promise<void> {
  const response = await ask(port, { path: `/delay/${ms}` });
  const { status, headers, body } = response;
  assert.equal(status, 200);
  assert.equal(body.toString(), String(ms));
  assert.ok(
    isType(headers['content-type'], 'text/plain'),
    `its type is ${headers['content-type']}`,
  );
  assert.ok(response.ms >= ms * LEAST, `${response.ms.toFixed(1)} ms are too early for ${ms}`);
}

export const asyncDelay: Check[] = [
  {
    profiles,
    name: 'GET /delay/N waits, also for nothing',
    run: async (port) => {
      await expectWait(port, anyNumber(10, 90));
      await expectWait(port, 0);
    },
  },
  {
    profiles,
    name: 'a short wait ends before a long one that began earlier',
    run: async (port) => {
      const ends: number[] = [];
      const wait = (ms: number): Promise<unknown> => expectWait(port, ms).then(() => ends.push(ms));
      await Promise.all([wait(2_000), wait(10)]);
      assert.deepEqual(ends, [10, 2_000]);
    },
  },
  {
    profiles,
    name: 'each of 32 waits at once is its own',
    run: async (port) => {
      const waits = Array.from({ length: 32 }, (_, i) => 100 + ((i * 37) % 400));
      await Promise.all(waits.map((ms) => expectWait(port, ms)));
    },
  },
];
