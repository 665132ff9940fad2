import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { freePort } from '@redline/services';
import type { FlameResult } from '../../src/flame/result.ts';
import { checkCpuProfile } from '../../src/profile/cpu-profile.ts';
import { launch, skip as noChromium } from '../report/chromium.ts';
import { Workbench } from './run-cli.ts';

const short = ['--seconds', '1', '--warmup', '0.5'];
const files = ['--json', 'flame.json', '--html', 'flame.html', '--out', '.'];

function withServer(t: TestContext, env: Record<string, string>): Workbench {
  const workbench = new Workbench(t);
  workbench.writeConfig({ variants: [workbench.variant('app', env)] });
  return workbench;
}

describe('redline flame', () => {
  test('takes a URL and what starts the app there', async (t) => {
    const workbench = new Workbench(t);
    const [program, file] = workbench.variant('x').command as [string, string];
    const url = `http://127.0.0.1:${await freePort()}/feed`;
    const command = ['-H', 'x-one: 1', '--', `MODE=calm '${program}' '${file}'`];
    const { code, stdout, stderr } = await workbench.run([
      'flame',
      url,
      ...short,
      ...files,
      ...command,
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /FLAME {3}server\.mjs, GET \/feed/);
  });

  test('knows the tier of nearly every frame, and writes a page, a profile and the figures', async (t) => {
    const workbench = withServer(t, { SPIN_MICROS: '100' });
    const { code, stdout, stderr } = await workbench.run(['flame', ...short, ...files]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /FLAME {3}test, GET \//);
    const result = JSON.parse(workbench.read('flame.json')) as FlameResult;
    assert.ok(result.tierKnown >= 0.95, String(result.tierKnown));
    assert.equal(result.sampler, 'inspector');
    assert.equal(result.tiersAt, process.platform === 'linux' ? 'sample' : 'start');
    assert.match(stdout, /tier known: [\d.]+ % of the JavaScript frames/);
    assert.ok(result.load!.completed > 0 && result.load!.microsPerRequest > 50);
    const spinning = result.functions.find(({ place }) => place.includes('server.mjs'));
    assert.equal(spinning?.owner, 'app');
    const leaves = Object.values(result.owners).reduce((sum, count) => sum + count, 0);
    assert.equal(leaves, result.samples);
    assert.equal(result.tree[0]![2], result.samples);
    const profile = stdout.match(/profile {2}(\S+\.cpuprofile)/)![1]!;
    checkCpuProfile(JSON.parse(workbench.read(profile)), profile);
    assert.ok(statSync(join(workbench.folder, 'flame.html')).size < 400_000);
    assert.deepEqual(workbench.survivors(), []);

    const title = 'opens in a browser without a word, zooms, searches and takes keys';
    await t.test(title, { skip: noChromium }, async () => {
      await using browser = await launch();
      const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
      const words: string[] = [];
      page.on('console', (message) => words.push(message.text()));
      page.on('pageerror', (error) => words.push(String(error)));
      await page.goto(`file://${join(workbench.folder, 'flame.html')}`);
      const frames = page.locator('.fg .f');
      const whole = await frames.count();
      assert.ok(whole > 10, String(whole));
      const widthOf = (index: number): Promise<string | null> =>
        frames.nth(index).getAttribute('width');

      await frames.nth(1).click();
      assert.equal(await widthOf(1), '100%');
      await page.keyboard.press('Escape');
      assert.equal(await frames.count(), whole);
      await page.keyboard.press('ArrowDown');
      const said = await page.locator('.fg-say').textContent();
      assert.match(said!, /— .*, total [\d.]+ %.*self/);
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('.fg-reset').isVisible(), true);
      await page.locator('.fg-reset').click();

      await page.keyboard.press('/');
      await page.keyboard.type('server.mjs');
      assert.ok((await page.locator('.f.hit').count()) > 0);
      assert.match((await page.locator('.fg-say').textContent())!, /is on the stack in \d/);
      await page.keyboard.press('Escape');
      await page.locator('[data-owner="0"]').uncheck();
      assert.ok((await page.locator('.f.dim').count()) > 0);
      await page.setViewportSize({ width: 360, height: 800 });
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(overflow, 0);
      assert.deepEqual(words, []);
    });
  });

  test('has frames for JSON and for regular expressions, by their source', async (t) => {
    const workbench = new Workbench(t);
    workbench.write(
      'app.cjs',
      `const http = require('node:http');
const config = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => ['k' + i, { v: i }]));
const pattern = /^(\\w+\\s?)*$/;
function checkName(name) {
  return pattern.test(name);
}
function slug(name) {
  return name.replace(/^([a-z]+-?)*$/g, '').length + name.split(/^([a-z]+,?)*$/).length;
}
http.createServer((request, response) => {
  const copy = JSON.parse(JSON.stringify(config));
  const name = 'a'.repeat(14) + '!';
  response.end(String(checkName(name) || slug(name) || copy.k1.v));
}).listen(process.env.PORT, process.env.HOST);
`,
    );
    workbench.writeConfig({ variants: [{ name: 'app', command: [process.execPath, 'app.cjs'] }] });
    const { code, stdout, stderr } = await workbench.run(['flame', ...short, ...files]);
    assert.equal(code, 0, stderr);
    const result = JSON.parse(workbench.read('flame.json')) as FlameResult;
    const { functions, tree, samples } = result;
    const named = (name: string): FlameResult['functions'][number] | undefined =>
      functions.find((each) => each.name === name);
    assert.ok(named('JSON.parse')!.self > 0 && named('JSON.stringify')!.self > 0, stdout);
    for (const source of ['^(\\w+\\s?)*$', '^([a-z]+-?)*$', '^([a-z]+,?)*$']) {
      assert.ok((named(`RegExp: ${source}`)?.self ?? 0) > samples * 0.02, `${source}\n${stdout}`);
    }
    const check = named('checkName')!;
    assert.ok(check.self < check.total / 2, stdout);
    assert.deepEqual([check.runsRegExp, check.unoptimised], [undefined, undefined]);
    // The samples of an expression are those its function had before.
    const own = tree.reduce((sum, [, , , self]) => sum + self, 0);
    assert.equal(own, samples);
    assert.match(
      stdout.replaceAll(/\s+/g, ' '),
      /The regular expression \/\^\(\\w\+\\s\?\)\*\$\/ has [\d.]+ % of the time, run by checkName\./,
    );
    assert.match(workbench.read('flame.html'), /was started again and profiled for 1.*expressions/);
  });

  test('holds two runs against each other', async (t) => {
    const workbench = new Workbench(t);
    workbench.writeConfig({
      variants: [
        workbench.variant('slow', { SPIN_MICROS: '400' }),
        workbench.variant('fast', { SPIN_MICROS: '50' }),
      ],
    });
    const args = ['flame', '--diff', 'slow', 'fast', ...short];
    const into = ['--json', 'diff.json', '--html', 'diff.html'];
    const { code, stdout, stderr } = await workbench.run([...args, ...into]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /slow → fast/);
    const { change } = JSON.parse(workbench.read('diff.json'));
    assert.equal(change.unit, 'micros');
    assert.ok(change.whole.before - change.whole.after > 100, JSON.stringify(change.whole));
    assert.match(workbench.read('diff.html'), /^<!doctype html>/i);
  });

  test('says in one sentence why a profile cannot be had', async (t) => {
    const workbench = new Workbench(t);
    const variant = workbench.variant('app');
    workbench.writeConfig({
      variants: [
        variant,
        { ...variant, name: 'shell', command: 'sh server.sh' },
        workbench.variant('dies', { DIE_AFTER: '30' }),
        workbench.variant('crashes', { MODE: 'crash' }),
      ],
    });
    workbench.write('empty.cpuprofile', '{"nodes":[],"samples":[]}');
    const expected: [args: string[], code: number, sentence: RegExp][] = [
      [['--variant', 'shell'], 1, /"shell" is started by sh.*write its command as node FILE/],
      [['--variant', 'nope'], 2, /--variant names "nope", which is not one of app, shell/],
      [['--variant', 'dies'], 1, /"dies" ended under the load.*exit code 9[^]*out of luck/],
      [['--variant', 'crashes'], 1, /"crashes" did not start[^]*no database at db\.internal/],
      [['--diff', 'app'], 2, /--diff takes two/],
      [
        ['--diff', 'app', 'gone'],
        2,
        /no such file, and --diff names "gone", which is not one of app/,
      ],
      [['--diff', 'empty.cpuprofile', 'empty.cpuprofile'], 1, /is empty: no sample was taken/],
    ];
    for (const [args, code, sentence] of expected) {
      const finished = await workbench.run(['flame', ...short, ...args]);
      assert.equal(finished.code, code, finished.stderr);
      assert.match(finished.stderr, sentence);
    }
    const noPerf = await workbench.run(['flame', '--perf', ...short], { PATH: '/nowhere' });
    assert.equal(noPerf.code, 1);
    assert.match(noPerf.stderr, /Linux perf is not on PATH/);
    assert.deepEqual(workbench.survivors(), []);
  });
});
