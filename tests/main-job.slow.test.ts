// The whole ladder, which takes minutes; main-job-memory.slow.test.ts climbs three rungs of it.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isMeasured, type BenchResult } from '@redline/lab';
import { findOnPath } from '@redline/services';
import { chromium } from 'playwright-core';
import { npmStart, root, run } from './npm-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'redline-main-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const rungs = [
  '00-express',
  '00-express-engine',
  '01-fastify',
  '02-native-logger',
  '03-json-cache',
  '04-auto-pipelining',
  '05-engine',
  '06-errors-only',
  '07-memory-before-redis',
  '09-engine',
];
const browserFile =
  process.env.CHROMIUM ?? findOnPath('chromium', 'chromium-browser', 'google-chrome');
const hasRedis =
  process.env.REDIS_URL !== undefined || findOnPath('redis-server', 'valkey-server') !== undefined;

describe('npm start', () => {
  const json = join(folder, 'out.json');
  const html = join(folder, 'out.html');

  test('climbs every rung, after each has answered the same body and logged what it should', async () => {
    const { code, output } = await npmStart(['--json', json, '--html', html]);
    assert.equal(code, 0, output);
    const result: BenchResult = JSON.parse(readFileSync(json, 'utf8'));
    assert.equal(result.scenario, 'cached-api');
    assert.equal(result.baseline, '00-express');
    assert.deepEqual(
      result.variants.map(({ name }) => name),
      rungs,
    );
    const measured = result.variants.filter(isMeasured).map(({ name }) => name);
    assert.deepEqual(
      measured,
      hasRedis ? rungs : rungs.filter((name) => !/^0[47]/.test(name)),
      JSON.stringify(result.variants.filter((variant) => !isMeasured(variant))),
    );
    assert.match(output, new RegExp(`${json.split('/').at(-1)}`));
  });

  test(
    'leaves a report that opens without an error or a request, with every rung drawn',
    { skip: browserFile === undefined ? 'there is no Chromium on PATH' : false },
    async (t) => {
      const browser = await chromium.launch({
        executablePath: browserFile!,
        args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      });
      t.after(() => browser.close());
      const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      const complaints: string[] = [];
      const requests: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => requests.push(request.url()));
      const url = pathToFileURL(html).href;
      await page.goto(url, { waitUntil: 'load' });
      assert.deepEqual(complaints, []);
      assert.deepEqual(requests, [url]);
      const rows = await page.locator('#ladder tbody tr').allInnerTexts();
      for (const rung of rungs) {
        assert.ok(
          rows.some((row) => row.includes(rung)),
          `${rung} is not in the ladder`,
        );
      }
      // A mark for rps and one for CPU in every measured row, the control among them.
      const marks = await page.locator('#ladder tbody svg').count();
      assert.ok(marks >= 2 * (rungs.length + (hasRedis ? 1 : 0)), String(marks));
    },
  );
});

test('npm run bench -- aa compares a server with itself', async () => {
  const out = join(folder, 'aa.json');
  const { code, output } = await run(process.execPath, [
    join(root, 'benchmarks/run.ts'),
    'aa',
    '--restarts=1',
    '--blocks=1',
    `--json=${out}`,
    `--html=${join(folder, 'aa.html')}`,
  ]);
  assert.equal(code, 0, output);
  const result: BenchResult = JSON.parse(readFileSync(out, 'utf8'));
  assert.deepEqual(
    result.variants.filter(isMeasured).map(({ name }) => name),
    ['a', 'a too'],
  );
});
