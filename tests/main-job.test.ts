import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isMeasured, type BenchResult } from '@redline/lab';
import { findOnPath } from '@redline/services';
import { chromium } from 'playwright-core';

const root = join(import.meta.dirname, '..');
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
  'raw-fastify',
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
    assert.deepEqual(measured, hasRedis ? rungs : rungs.filter((name) => !/^0[47]/.test(name)));
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

/** The command behind `npm start`, without the set-up that `npm test` has just done. */
function npmStart(args: string[], env: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [command, ...rest] = (scripts.start as string).split(' ');
  const program = join(root, 'node_modules/.bin', command!);
  return run(process.execPath, [program, ...rest, '--restarts=1', '--blocks=1', ...args], env);
}

interface Finished {
  code: number | null;
  output: string;
}

async function run(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Finished> {
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  return { code, output };
}
