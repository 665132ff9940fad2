import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const source = join(import.meta.dirname, '../src/index.ts');

/** A worker changes the environment of the process without end, and the table that glibc keeps moves each time it grows. */
const writer = `
  const { parentPort } = require('node:worker_threads');
  parentPort.postMessage('ready');
  for (;;) {
    for (let n = 0; n < 400; n++) process.env['SHARED_' + n] = 'x'.repeat(n);
    for (let n = 0; n < 400; n++) delete process.env['SHARED_' + n];
  }`;

const program = (call: string): string => `
  const { once } = require('node:events');
  const { Worker, SHARE_ENV } = require('node:worker_threads');
  process.env.BEFORE = 'before';
  import(${JSON.stringify(source)}).then(async ({ spawn, spawnSync, execFile }) => {
    const worker = new Worker(${JSON.stringify(writer)}, { eval: true, env: SHARE_ENV, execArgv: [] });
    await once(worker, 'message');
    process.env.AFTER = 'after';
    let seen = 0;
    for (let round = 0; round < 40; round++) ${call}
    console.log(seen);
    process.exit();
  });`;

const calls = {
  spawn: `await Promise.all(Array.from({ length: 5 }, async () => {
    const child = spawn('sh', ['-c', 'echo $BEFORE$AFTER'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    for await (const chunk of child.stdout) text += chunk;
    if (text === 'beforeafter\\n') seen++;
  }));`,
  execFile: `await Promise.all(Array.from({ length: 5 }, () => new Promise((done) =>
    execFile('sh', ['-c', 'echo $BEFORE$AFTER'], (error, text) => {
      if (error === null && text === 'beforeafter\\n') seen++;
      done();
    }))));`,
  spawnSync: `for (let n = 0; n < 5; n++)
    if (spawnSync('sh', ['-c', 'echo $BEFORE$AFTER']).stdout.toString() === 'beforeafter\\n') seen++;`,
};

describe('while a worker with SHARE_ENV changes the environment', { skip }, () => {
  for (const [name, call] of Object.entries(calls)) {
    test(`${name} gives every child a whole environment`, () => {
      const { stdout, stderr, signal } = spawnSync(
        process.execPath,
        ['--no-warnings', '-e', program(call)],
        { encoding: 'utf8' },
      );
      assert.equal(signal, null, stderr);
      assert.equal(stdout, '200\n', stderr);
    });
  }

  test('a child of a worker that shares it sees what the main thread has set', () => {
    const code = `
      const { Worker, SHARE_ENV } = require('node:worker_threads');
      process.env.SET_BY = 'main';
      new Worker(${JSON.stringify(`
        import(${JSON.stringify(source)}).then(({ execFileSync }) => {
          process.env.SET_BY += ' worker';
          console.log(execFileSync('sh', ['-c', 'echo $SET_BY'], { encoding: 'utf8' }).trim());
        });`)}, { eval: true, env: SHARE_ENV });`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '-e', code], {
      encoding: 'utf8',
    });
    assert.equal(stdout, 'main worker\n', stderr);
  });
});
