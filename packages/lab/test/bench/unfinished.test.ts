import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { newestUnfinished, readEarlier } from '../../src/bench/unfinished.ts';

const unfinished = { missing: ['b'], trees: [], environment: '', groups: {} };
const whole = {
  schema: 1,
  command: 'bench',
  scenario: 'api',
  machine: {},
  variants: [],
  slices: [],
  groups: [],
  unfinished,
};
const asked = {
  identity: { trees: [], environment: '', groups: {} },
  redlineVersion: '1.0.0',
};

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redline-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('the newest unfinished result', () => {
  test('is one of the config itself, whatever else the folder has', (t) => {
    const folder = folderOf(t);
    const write = (name: string, content: unknown, at: number): void => {
      writeFileSync(join(folder, name), JSON.stringify(content));
      utimesSync(join(folder, name), at, at);
    };
    write('api-aaaaaa.json', whole, 1);
    write('api-admin-bbbbbb.json', { ...whole, scenario: 'api-admin' }, 2);
    write('api-cccccc.json', null, 3);
    write('api-dddddd.json', { ...whole, unfinished: undefined }, 4);
    assert.equal(newestUnfinished(folder, 'api'), join(folder, 'api-aaaaaa.json'));
  });
});

describe('a file to go on with', () => {
  test('is refused unless it is a result', (t) => {
    const file = join(folderOf(t), 'r.json');
    const { machine: _, ...withoutMachine } = whole;
    const broken = ['', '{"unfinis', 'null', '[]', '{}', '1'];
    const others = [withoutMachine, { ...whole, unfinished: {} }, { ...whole, groups: null }];
    for (const text of [...broken, ...others.map((each) => JSON.stringify(each))]) {
      writeFileSync(file, text);
      assert.throws(() => readEarlier(file, asked), {
        code: 'ERR_REDLINE_OPTION',
        message: /cannot go on with .*r\.json: it is not a result of redline bench\./,
      });
    }
  });

  test('may be absent, and is refused if it cannot be read', (t) => {
    const folder = folderOf(t);
    assert.equal(readEarlier(join(folder, 'r.json'), asked), undefined);
    assert.throws(() => readEarlier(folder, asked), {
      code: 'ERR_REDLINE_OPTION',
      message: /cannot go on with .*: it cannot be read \(EISDIR/,
    });
  });
});
