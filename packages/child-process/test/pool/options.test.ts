import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createPool } from '../../src/pool/index.ts';
import { pickBy } from '../../src/pool/options.ts';
import { openPool } from './pools.ts';

describe('createPool refuses', () => {
  const mistakes: [what: string, options: unknown, message: string][] = [
    ['options that are none', 3, 'The options of createPool must be an object; got 3.'],
    [
      'an option it does not have',
      { sise: 2 },
      'Unknown option "sise" of createPool. Known options: size, runtime, transport, balance.',
    ],
    ['no workers', { size: 0 }, 'The option size must be a whole number above 0; got 0.'],
    ['half a worker', { size: 1.5 }, 'The option size must be a whole number above 0; got 1.5.'],
    [
      'a transport it does not know',
      { transport: 'pigeon' },
      "The option transport must be 'send' or 'socket'; got \"pigeon\".",
    ],
    [
      'a policy it does not know',
      { balance: 'fair' },
      "The option balance must be 'random' or 'round-robin' or 'least-busy'; got \"fair\".",
    ],
    [
      'a runtime that is no text',
      { runtime: 5 },
      "The option runtime must be 'node', 'bun' or a path; got 5.",
    ],
  ];
  for (const [what, options, message] of mistakes) {
    test(what, () => {
      assert.throws(() => createPool(options as never), {
        code: 'ERR_REDLINE_POOL_OPTION',
        message,
      });
    });
  }

  test('a runtime that is not there, cannot be run, or is something else', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-pool-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const other = join(folder, 'other');
    writeFileSync(other, '#!/bin/sh\necho Python 3.14\n');
    const refused = (runtime: string, message: RegExp): void =>
      assert.throws(() => createPool({ runtime }), { code: 'ERR_REDLINE_POOL_RUNTIME', message });
    refused('/nowhere/node', /"\/nowhere\/node" cannot be run \(ENOENT\)\.$/);
    refused(other, /cannot be run \(EACCES\)\.$/);
    chmodSync(other, 0o755);
    refused(other, /neither Node nor Bun: its --version says "Python 3\.14"\.$/);
  });
});

describe('a call on the pool refuses', () => {
  test("what node:child_process refuses, with Node's own codes", (t) => {
    const pool = openPool(t, { size: 1 });
    const spawn = pool.spawn as (...args: unknown[]) => unknown;
    assert.throws(() => spawn(5), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
    assert.throws(() => spawn(''), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    assert.throws(() => spawn('a\0b'), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    assert.throws(() => spawn('a', ['b\0']), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
    assert.throws(() => spawn('a', [], { cwd: 5 }), { code: 'ERR_INVALID_ARG_TYPE' });
  });

  test('descriptors a worker cannot be given', (t) => {
    const pool = openPool(t, { size: 1 });
    for (const stdio of ['ipc', [0, 1, 2], ['pipe', 'pipe', 'pipe', 'pipe']] as never[]) {
      assert.throws(() => pool.spawn('echo', [], { stdio }), { code: 'ERR_REDLINE_POOL_OPTION' });
    }
  });
});

describe('balance', () => {
  const workers = [{ busy: 2 }, { busy: 0 }, { busy: 1 }];

  test('round-robin takes turns', () => {
    const pick = pickBy('round-robin');
    const picked = Array.from({ length: 5 }, () => workers.indexOf(pick(workers)!));
    assert.deepEqual(picked, [0, 1, 2, 0, 1]);
  });

  test('least-busy takes the one with the fewest children, and takes turns among equals', () => {
    const pick = pickBy('least-busy');
    assert.equal(pick(workers), workers[1]);
    const idle = [{ busy: 0 }, { busy: 0 }];
    assert.notEqual(pick(idle), pick(idle));
  });

  test('random takes all of them', () => {
    const pick = pickBy('random');
    const seen = new Set(Array.from({ length: 500 }, () => pick(workers)));
    assert.equal(seen.size, 3);
  });

  for (const policy of ['random', 'round-robin', 'least-busy'] as const) {
    test(`${policy} picks none of none`, () => assert.equal(pickBy(policy)([]), undefined));
  }
});
