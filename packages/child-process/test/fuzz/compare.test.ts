import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { foreign, reproduced } from './compare.ts';
import { confirm } from './confirm.ts';
import type { Program } from './program.ts';
import { record } from './record.ts';

describe('two sets of recordings', () => {
  test('agree where each outcome of the engine is one of Node’s', () => {
    const node = [{ exit: '0' }, { exit: '0' }, { exit: '1' }];
    assert.deepEqual(foreign(node, [{ exit: '1' }, { exit: '1' }]), []);
  });

  test('agree where Node had the lists of one recording in different ones', () => {
    const node = [
      { out: 'a', err: 'b' },
      { out: 'c', err: 'd' },
    ];
    assert.deepEqual(foreign(node, [{ out: 'a', err: 'd' }]), []);
  });

  test('differ where an event is lost', () => {
    const node = [{ out: 'x end close' }, { out: 'x end close' }];
    const engine = [{ out: 'x close' }, { out: 'x close' }];
    assert.deepEqual(foreign(node, engine), [{ list: 'out', outcome: 'x close', times: 2 }]);
  });

  test('differ where events have changed places', () => {
    const found = foreign([{ child: 'exit close' }], [{ child: 'close exit' }]);
    assert.deepEqual(found, [{ list: 'child', outcome: 'close exit', times: 1 }]);
  });

  test('differ where a list is missing, or is there alone', () => {
    assert.equal(foreign([{ out: '' }], [{}]).length, 1);
    assert.equal(foreign([{}], [{ out: '' }]).length, 1);
  });

  test('make a difference of what most recordings of the engine have', () => {
    const once = foreign([{ out: 'a' }], [{ out: 'a' }, { out: 'b' }, { out: 'a' }]);
    const node = [{ out: 'a' }, { out: 'a' }];
    assert.deepEqual(reproduced(once, 3, node), []);
    const mostly = foreign([{ out: 'a' }], [{ out: 'c' }, { out: 'b' }, { out: 'a' }]);
    assert.equal(reproduced(mostly, 3, node).length, 2);
  });

  test('ignore outcomes that are new in most runs of Node as well', () => {
    const runs = (length: number, from: number) =>
      Array.from({ length }, (_, run) => ({ out: `${from + run} bytes`, exit: '0' }));
    const node = runs(60, 0);
    const engine = runs(20, 100).map((recording) => ({ ...recording, exit: '1' }));
    const lists = reproduced(foreign(node, engine), 20, node).map(({ list }) => list);
    assert.deepEqual([...new Set(lists)], ['exit']);
  });
});

describe('a program', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'redline-fuzz-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const node = 'node:child_process';
  const patience = { enough: 3, most: 5 };
  const nothing = { node: [], redline: [] };
  const program: Program = {
    seed: 0,
    isAlone: false,
    children: [
      {
        how: 'spawn',
        script: ['head -c 1000000 /dev/zero'],
        program: 'sh',
        stdio: undefined,
        options: {},
        abort: undefined,
        actions: [{ at: 'now', do: 'read stdout' }],
      },
    ],
  };

  test('does not differ between Node and Node', async () => {
    const engines = { node, redline: node };
    assert.equal(await confirm(program, engines, folder, nothing, patience), 'same');
  });

  test('does not differ between Node and Node where two others read one output', async () => {
    const engines = { node, redline: node };
    const [child] = program.children;
    const twice = { at: 'now', do: 'pipe on' } as const;
    const shared = { ...program, children: [{ ...child!, actions: [twice, twice] }] };
    assert.equal(await confirm(shared, engines, folder, nothing, patience), 'same');
  });

  test('is over although a child never asks for one of its own that has ended', async () => {
    const [child] = program.children;
    const waiting = { ...child!, script: ['sleep 0.1 &', 'read line'], actions: [] };
    const recordings = await record(node, [{ ...program, children: [waiting] }], folder);
    assert.match(recordings.get(0)?.['0'] ?? 'cut off', /"state",null,null/);
  });

  test('differs on an engine whose output never ends', async () => {
    const engines = { node, redline: join(import.meta.dirname, 'faulty.ts') };
    const verdict = await confirm(program, engines, folder, nothing, patience);
    assert.ok(typeof verdict === 'object');
    assert.deepEqual(
      verdict.found.map(({ list }) => list),
      ['0 fd 1'],
    );
  });

  test('that differs has no verdict when it is late before that', async () => {
    const engines = { node, redline: join(import.meta.dirname, 'faulty.ts') };
    let looks = 0;
    const isLate = () => ++looks > 1;
    const late = { ...patience, isLate };
    assert.equal(await confirm(program, engines, folder, nothing, late), 'unknown');
    assert.equal(looks, 2);
  });

  test('differs on an engine that ends the process', async () => {
    const engines = { node, redline: 'data:text/javascript,process.exit()' };
    const verdict = await confirm(program, engines, folder, nothing, patience);
    assert.ok(typeof verdict === 'object');
  });
});
