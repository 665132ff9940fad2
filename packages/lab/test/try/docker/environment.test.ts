import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { environmentOf, exportsOf } from '../../../src/try/docker/environment.ts';

describe('the variables of a container', () => {
  test('are those of --env-file, those of --env after them, and none of this process but by name', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-env-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'set.env');
    writeFileSync(file, 'A=1\nB="two words"\nC=3 # a comment\n');
    process.env['REDLINE_PASSED'] = 'on';
    t.after(() => delete process.env['REDLINE_PASSED']);
    const env = environmentOf(['A=x=y', 'REDLINE_PASSED', 'EMPTY='], [file]);
    assert.deepEqual(
      { ...env },
      { A: 'x=y', B: 'two words', C: '3', REDLINE_PASSED: 'on', EMPTY: '' },
    );
    assert.deepEqual(environmentOf(), {});
  });

  test('name what is wrong', () => {
    assert.throws(() => environmentOf(['A-B=1']), /--env takes NAME=value or NAME; got "A-B"\.$/);
    assert.throws(() => environmentOf(['REDLINE_GONE']), /give --env REDLINE_GONE=value\.$/);
    assert.throws(
      () => environmentOf([], ['/gone.env']),
      /--env-file "\/gone\.env" cannot be read/,
    );
  });

  test('of a file are refused by name where a shell cannot set them', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-env-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'set.env');
    writeFileSync(file, 'A=1\nb.c=2\nD-E=3\n');
    assert.throws(() => environmentOf([], [file]), {
      code: 'ERR_REDLINE_OPTION',
      message: /--env-file ".*set\.env" sets D-E and b\.c, which /,
    });
  });

  test('reach a shell as they are', () => {
    const value = `it's $HOME "and" \\ \`more\`\nthan one line`;
    const script = `${exportsOf({ VALUE: value })}printf %s "$VALUE"`;
    assert.equal(execFileSync('sh', ['-c', script], { encoding: 'utf8' }), value);
  });
});
