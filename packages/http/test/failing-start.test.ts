import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { engine } from '../src/index.ts';

const skip = engine().name === 'native' ? false : 'the native engine does not serve here';
const source = join(import.meta.dirname, '../src/index.ts');

/** Takes all descriptors but so many, makes the engine's start meet the end of them, and looks for what it left behind. */
const attempts = `
  const { openSync, closeSync, readdirSync } = require('node:fs');
  const open = () => readdirSync('/proc/self/fd').length;
  module.exports = async ({ createServer }) => {
    const outcomes = [];
    const counts = new Set();
    for (let free = 0; outcomes.at(-1) !== 'listening'; free++) {
      if (free > 30) throw new Error('it never succeeds');
      const taken = [];
      try { for (;;) taken.push(openSync('/dev/null')); } catch {}
      for (let n = 0; n < free; n++) closeSync(taken.pop());
      const server = createServer({ threaded: true });
      const outcome = await new Promise((done) => {
        server.on('error', ({ code, syscall }) => done(code + ' ' + syscall));
        server.listen(0, '127.0.0.1', () => done('listening'));
      });
      outcomes.push(outcome);
      await new Promise((done) => server.close(done));
      for (const fd of taken) closeSync(fd);
      if (outcome === 'listening') break;
      // libuv closes handles at the end of the turn.
      await new Promise((done) => setImmediate(() => setImmediate(done)));
      // An engine that has started stays, though its server could not listen: that is one change; what the worker itself opens late is another.
      if (counts.add(open()).size > 3) throw new Error('descriptors: ' + [...counts]);
    }
    console.log(JSON.stringify(outcomes));
  };`;

function outcomesOf(program: string, limit = 64): string[] {
  const script = `ulimit -c 0; ulimit -n ${limit}; exec "$0" --no-warnings -e "$1"`;
  const { stdout, stderr, signal, status } = spawnSync(
    'sh',
    ['-c', script, process.execPath, program],
    { encoding: 'utf8' },
  );
  assert.deepEqual({ signal, status }, { signal: null, status: 0 }, stderr);
  return JSON.parse(stdout) as string[];
}

/** Each attempt but the last fails with the error that Node gives. */
function areRight(outcomes: string[]): void {
  assert.ok(outcomes.length > 1, outcomes.join(', '));
  assert.equal(outcomes.at(-1), 'listening');
  assert.deepEqual(new Set(outcomes.slice(0, -1)), new Set(['EMFILE listen']));
}

// The addon and what Node loads late are there before the descriptors are gone.
const load = `const ready = import(${JSON.stringify(source)}).then((http) => (http.engine(), http));`;
const asModule = `const module = { exports: {} }; ${attempts} const attempt = module.exports;`;

describe('an engine that cannot start for want of descriptors', { skip }, () => {
  test('is an "error" of listen, until it can', () => {
    areRight(outcomesOf(`${load} { ${asModule} ready.then(attempt); }`));
  });

  test('is that in a worker too, and ends no process', () => {
    const inWorker = `${load} { ${asModule} ready.then(attempt); }`;
    areRight(
      outcomesOf(`
        const { Worker } = require('node:worker_threads');
        new Worker(${JSON.stringify(inWorker)}, { eval: true, execArgv: ['--no-warnings'] });`),
    );
  });
});

const canBecomeOther = process.getuid?.() === 0;

describe('an engine that cannot start for want of threads', { skip }, () => {
  // root has no such limit.
  const program = (isWorker: boolean): string => {
    const code = `
      ${load}
      ready.then(({ createServer }) => {
        require('node:child_process').execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=1:1']);
        const server = createServer({ threaded: true });
        server.on('error', ({ code, syscall }) => console.log(JSON.stringify([code + ' ' + syscall])));
        server.listen(0, '127.0.0.1', () => console.log('["listening"]') ?? process.exit());
      });`;
    return isWorker
      ? `const { Worker } = require('node:worker_threads');
         new Worker(${JSON.stringify(code)}, { eval: true, execArgv: ['--no-warnings'] });`
      : code;
  };
  for (const isWorker of [false, true]) {
    test(`is an "error" of listen ${isWorker ? 'in a worker, and ends no process' : 'on the main thread'}`, (t) => {
      const options = { encoding: 'utf8', ...(canBecomeOther && { uid: 65_534 }) } as const;
      if (spawnSync('prlimit', ['--version'], options).status !== 0) return t.skip('no prlimit');
      const script = 'ulimit -c 0; exec "$0" --no-warnings -e "$1"';
      const args = ['-c', script, process.execPath, program(isWorker)];
      const { stdout, stderr, signal } = spawnSync('sh', args, options);
      if (/EACCES|Permission denied/.test(stderr))
        return t.skip('another user cannot read this folder');
      assert.equal(signal, null, stderr);
      assert.equal(stdout.trim(), '["EAGAIN listen"]', stderr);
      return undefined;
    });
  }
});
