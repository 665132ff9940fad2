// Each system call of an engine's start fails once: the first, the second, and so on until a start has fewer. A preloaded C
// library that counts the addon's own calls does it (failing-start/fail-nth.c).
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { engine as spawnEngine } from '@redline/child-process';
import { engine as httpEngine } from '@redline/http';

const folder = join(import.meta.dirname, 'failing-start');
const built = mkdtempSync(join(tmpdir(), 'fail-nth-'));
after(() => rmSync(built, { recursive: true }));
const library = join(built, 'fail-nth.so');
const skip = missing();
/** More calls than any start has. */
const MOST = 80;
/** As many as an engine has, which stays once it has started: a thread's name is not there from its first moment on. */
const THREADS = 3;

interface Attempt {
  readonly outcome: string;
  /** That of the second child. */
  readonly again?: string;
  readonly fired: boolean;
  readonly engine: 'native' | 'node';
  readonly reason?: string;
  readonly before: Readonly<Record<string, number>>;
  readonly after: Readonly<Record<string, number>>;
}

function missing(): string | false {
  if (process.platform !== 'linux') return 'the engines are for Linux';
  if (httpEngine().name !== 'native' || spawnEngine().name !== 'native')
    return 'the native engines do not serve here';
  try {
    const source = join(folder, 'fail-nth.c');
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
      stdio: 'pipe',
    });
  } catch {
    return 'no C compiler builds the library that makes calls fail';
  }
  return false;
}

function attempt(which: 'http' | 'spawn', n: number, isWorker: boolean): Attempt {
  const call = `require(${JSON.stringify(join(folder, 'attempt.cjs'))})(${JSON.stringify(which)}, ${n})`;
  const program = isWorker
    ? `const { Worker } = require('node:worker_threads');
       new Worker(${JSON.stringify(call)}, { eval: true });`
    : call;
  const { stdout, stderr, signal, status } = spawnSync(
    'sh',
    [
      '-c',
      'ulimit -c 0; LD_PRELOAD="$2" exec "$0" --no-warnings -e "$1"',
      process.execPath,
      program,
      library,
    ],
    { encoding: 'utf8', cwd: import.meta.dirname },
  );
  assert.deepEqual({ n, signal, status }, { n, signal: null, status: 0 }, stderr);
  return JSON.parse(stdout) as Attempt;
}

/** Attempts until one has fewer calls than were to fail; the last one is a start that nothing disturbs. */
function attempts(which: 'http' | 'spawn', isWorker: boolean): Attempt[] {
  const all: Attempt[] = [];
  while (all.at(-1)?.fired !== false) {
    assert.ok(all.length < MOST, 'it never succeeds');
    all.push(attempt(which, all.length + 1, isWorker));
  }
  return all;
}

/** Whether no kind of thing is there more often than it may be. */
function isWithin(found: Attempt['after'], limits: Attempt['after']): boolean {
  return Object.entries(found).every(([kind, count]) => count <= (limits[kind] ?? 0));
}

for (const isWorker of [false, true]) {
  const where = isWorker ? 'in a worker' : 'on the main thread';

  describe(`a call that fails while an engine starts ${where}`, { skip }, () => {
    test('is an "error" of listen with its code, or leaves the server to Node', () => {
      const all = attempts('http', isWorker);
      const good = all.at(-1)!;
      assert.equal(good.outcome, 'listening');
      assert.equal(good.engine, 'native');
      assert.ok(all.length > 8, `${all.length} calls`);
      const limits = { ...good.after, threads: THREADS };
      for (const [index, { outcome, engine, reason, before, after: left }] of all.entries()) {
        const message = `call ${index + 1}: ${outcome}, ${engine} ${reason}, ${JSON.stringify({ before, left, good })}`;
        assert.match(outcome, /^(listening|E[A-Z]+ listen)$/, message);
        if (engine === 'node') assert.match(reason!, /^the engine cannot start: E[A-Z]+$/, message);
        assert.ok(isWithin(left, engine === 'node' ? before : limits), message);
      }
    });

    test('is an "error" of the child with its code, or leaves it to Node, and the next child starts', () => {
      const all = attempts('spawn', isWorker);
      const good = all.at(-1)!;
      assert.deepEqual([good.outcome, good.engine], ['exit 0', 'native']);
      assert.ok(all.length > 8, `${all.length} calls`);
      const limits = { ...good.after, threads: THREADS };
      for (const [
        index,
        { outcome, again, engine, reason, before, after: left },
      ] of all.entries()) {
        const message = `call ${index + 1}: ${outcome}, ${again}, ${engine} ${reason}, ${JSON.stringify({ before, left, good })}`;
        assert.match(outcome, /^(exit 0|E[A-Z]+ (spawn|waitid)( true)?)$/, message);
        assert.equal(again, 'exit 0', message);
        if (engine === 'node') assert.match(reason!, /^the engine cannot start: E[A-Z]+$/, message);
        assert.ok(isWithin(left, engine === 'node' ? before : limits), message);
      }
    });
  });
}
