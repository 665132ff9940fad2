import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import type { BenchResult } from '@redline/lab';
import { npmStart, root } from './npm-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-main-'));
after(() => rmSync(folder, { recursive: true, force: true }));

describe('npm start', () => {
  test('runs on the in-process store where there is no Redis, and marks the rung that needs one', async () => {
    const out = join(folder, 'memory.json');
    const some = '00-express,03-json-cache,04-auto-pipelining';
    const { code, output } = await npmStart(
      ['--only', some, '--json', out, '--html', join(folder, 'm.html')],
      {
        PATH: [join(root, 'node_modules/.bin'), dirname(process.execPath)].join(':'),
        REDIS_URL: '',
      },
    );
    assert.equal(code, 0, output);
    assert.match(output, /No Redis found: .*REDIS_URL/);
    const result: BenchResult = JSON.parse(readFileSync(out, 'utf8'));
    assert.deepEqual(
      result.variants.filter((variant) => 'skipped' in variant),
      [{ name: '04-auto-pipelining', note: 'one trip to Redis per turn', skipped: 'needs Redis' }],
    );
  });
});
