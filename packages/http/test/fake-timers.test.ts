import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const main = new URL('fake-timers/main.ts', import.meta.url).pathname;

test('a server goes on while a test runner fakes the timers, the date and the queues', async () => {
  const { stdout } = await run(process.execPath, [main], { timeout: 300_000 });
  assert.equal(stdout, 'begun and ended at begun and ended at\n');
});

test('a server goes on where setTimeout has always returned a number, as in a browser', async () => {
  const numbers =
    'const real = setTimeout; globalThis.setTimeout = (...args) => Number(real(...args).unref());';
  const args = ['--import', `data:text/javascript,${encodeURIComponent(numbers)}`, main];
  const { stdout } = await run(process.execPath, args, { timeout: 300_000 });
  assert.equal(stdout, 'begun and ended at begun and ended at\n');
});
