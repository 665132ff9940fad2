import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import type { MeasuredVariant } from '../../src/bench/result.ts';
import { needsTurns, needsWrk } from './needs.ts';
import { finished, Workbench } from './run-cli.ts';
import { until } from '@redline/services/until';

describe('redline bench', () => {
  test('writes the documented JSON and a report, and prints where they are', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('plain'), bench.variant('spinning', { SPIN_MICROS: '4000' })],
      load: { connections: 8, turns: false },
      precision: { restarts: 1, blocks: 2, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
    });
    const { code, stdout, stderr } = await bench.run([
      'bench',
      '--json',
      'out/r.json',
      '--html',
      'r.html',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /out\/r\.json/);
    assert.match(stdout, /r\.html/);
    assert.match(bench.read('r.html'), /^<!doctype html>/i);

    const result = bench.result('out/r.json');
    assert.equal(result.schema, 1);
    assert.equal(result.scenario, 'test');
    assert.equal(result.baseline, 'plain');
    assert.deepEqual(
      result.variants.map(({ name }) => name),
      ['plain', 'spinning'],
    );
    const [plain, spinning] = result.variants as [MeasuredVariant, MeasuredVariant];
    assert.deepEqual(plain.cpuRatio, { value: 1, low: 1, high: 1 });
    // 4 ms of spinning over a request of some 20 µs: no noise hides that.
    assert.ok(spinning.cpuMicrosPerRequest > 3_000, String(spinning.cpuMicrosPerRequest));
    assert.ok(spinning.cpuRatio.high < 0.5 && spinning.rpsRatio.high < 0.5);
    assert.equal(spinning.verdict, 'changed');
    assert.ok(spinning.latencyMs.p50 >= 4 && spinning.latencyMs.p99 >= spinning.latencyMs.p50);
    // One restart.
    assert.deepEqual(spinning.latencyMs.p99s, [spinning.latencyMs.p99]);
    assert.ok(spinning.rssMiB > 20);
    // restarts × blocks × (variants + the baseline again)
    assert.equal(result.slices.length, 2 * 3);
    assert.equal('step' in spinning, false);
    assert.deepEqual(bench.survivors(), []);
  });

  test('reads CPU in turns with the load on one core', { skip: needsTurns }, async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('plain'), bench.variant('spinning', { SPIN_MICROS: '1000' })],
      load: { connections: 8, turns: true },
      precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
    });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json', '--html', 'r.html']);
    assert.equal(code, 0, stderr);
    const result = bench.result('r.json');
    assert.ok(result.slices.length > 0);
    for (const { turns = [] } of result.slices) {
      assert.ok(turns.length > 0 && turns.length <= 8);
      for (const turn of turns) assert.ok(turn.requests > 0 && turn.cpuMicros > 0);
    }
    const [plain, spinning] = result.variants as [MeasuredVariant, MeasuredVariant];
    // By the clock, of which not all may be CPU on a crowded machine.
    assert.ok(spinning.cpuMicrosPerRequest > 500, String(spinning.cpuMicrosPerRequest));
    assert.ok(spinning.cpuMicrosPerRequest > 2 * plain.cpuMicrosPerRequest);
    assert.match(bench.read('r.html'), /took turns on one core/);
    assert.deepEqual(bench.survivors(), []);
  });

  test('sends on time where it is asked to, and counts every answer', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('spinning', { SPIN_MICROS: '100' })],
      load: { connections: 4, exactSends: true, openLoopRps: 700 },
      precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 300 },
    });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const [spinning] = bench.result('r.json').variants as [MeasuredVariant];
    assert.ok(spinning.latencyMs.p50 >= 0.1, String(spinning.latencyMs.p50));
    assert.deepEqual(bench.survivors(), []);
  });

  test(
    'leaves no server behind when it is killed',
    { skip: process.platform === 'win32' },
    async (t) => {
      const bench = new Workbench(t);
      const loaded = { LOADED: `${bench.folder}/loaded` };
      bench.writeConfig({
        variants: [
          bench.variant('plain', loaded),
          bench.variant('stubborn', { MODE: 'stubborn', ...loaded }),
        ],
        // Without a warm-up the first load is that of a block.
        precision: { restarts: 1, blocks: 50, sliceMs: 200, warmupMs: 0, latencyMs: 100 },
      });
      const runner = bench.start(['bench']);
      // The base twice, and the other.
      await until('three servers', () => bench.serverPids().length >= 3);
      await until('the load', () => existsSync(loaded.LOADED));
      assert.ok(runner.exitCode === null);
      runner.kill('SIGKILL');
      await until('the end of the servers', () => bench.survivors().length === 0);
    },
  );

  test('asks a POST with headers and a body as it is written', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('echo', { MODE: 'echo' })],
      requests: [{ method: 'POST', path: '/x', headers: { 'x-one': '1' }, body: '{"a":"ü\\n"}' }],
    });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bench.result('r.json').load.requests, ['POST /x']);
  });

  test('takes a config that imports defineConfig where nothing is installed, as npx does', async (t) => {
    const bench = new Workbench(t);
    const config = {
      name: 'bare',
      load: { connections: 8, turns: false, pin: false },
      precision: { restarts: 1, blocks: 1, sliceMs: 200, warmupMs: 0, latencyMs: 100 },
      variants: [bench.variant('plain')],
    };
    bench.write(
      'redline.config.ts',
      `import { defineConfig } from '@redline/lab';\nexport default defineConfig(${JSON.stringify(config)});\n`,
    );
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.equal(bench.result('r.json').variants[0]!.name, 'plain');
  });

  test('falls back to its own load where there is no wrk', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('plain')] });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json'], { PATH: '/nowhere' });
    assert.equal(code, 0, stderr);
    const result = bench.result('r.json');
    assert.match(result.load.generator, /^redline \d/);
    assert.ok((result.variants[0] as MeasuredVariant).rps > 0);
  });

  test('measures a baseline on a fixed port, and says that it cannot run beside itself', async (t) => {
    const port = await freePort();
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [{ ...bench.variant('fixed'), port }, bench.variant('other')] });
    const { code, stderr, stdout } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a\s+second\s+copy\s+cannot\s+run\s+beside\s+it/);
    const { control, precision, variants } = bench.result('r.json');
    assert.ok('skipped' in control);
    assert.equal(precision.cpuBand, 0.02);
    assert.ok(variants.every((variant) => 'rps' in variant));
  });

  test('measures only the variants that --only names', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: ['a', 'b', 'c'].map((name) => bench.variant(name)) });
    const { code, stderr } = await bench.run(['bench', '--only', 'b,c', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.equal(bench.result('r.json').baseline, 'b');
    assert.equal(bench.result('r.json').variants.length, 2);
  });

  test('leaves a variant out that fails under load, and says why', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('plain'), bench.variant('failing', { FAIL_EVERY: '10' })],
      precision: { restarts: 1, blocks: 2, sliceMs: 100, warmupMs: 0, latencyMs: 100 },
    });
    const { code, stderr, stdout } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const failing = bench.result('r.json').variants[1]!;
    assert.ok('skipped' in failing);
    assert.match(
      failing.skipped,
      /requests with (a status outside 2xx and 3xx|status 5\d\d) under load/,
    );
    assert.match(stdout, /failing/);
  });

  test('skips what the set-up says cannot run, and stops the set-up at the end', async (t) => {
    const bench = new Workbench(t);
    const variants = JSON.stringify([bench.variant('plain'), bench.variant('redis')]);
    bench.write(
      'redline.config.mjs',
      `import { writeFileSync } from 'node:fs';
      export default {
        name: 'test', variants: ${variants}, load: { connections: 8 },
        precision: { restarts: 1, blocks: 1, sliceMs: 100, warmupMs: 0, latencyMs: 100 },
        setup: () => ({ env: { BODY: 'from set-up' }, skip: { redis: 'needs Redis' },
                        stop: () => writeFileSync('stopped', '') }),
        verify: async ({ name, url, stdout }) => {
          const body = await (await fetch(url)).text();
          if (body !== 'from set-up') throw new Error('got ' + body);
          // The A/A control of the baseline has the name of the baseline here.
          if (name !== 'plain') throw new Error('called ' + name);
          if (typeof await stdout() !== 'string') throw new Error('no output');
        },
      };`,
    );
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(bench.result('r.json').variants[1], { name: 'redis', skipped: 'needs Redis' });
    assert.ok(existsSync(`${bench.folder}/stopped`));
  });
});

describe('redline ladder', () => {
  test('compares each rung with the one below that was measured', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [
        bench.variant('base', { SPIN_MICROS: '4000' }),
        bench.variant('one', { SPIN_MICROS: '1000' }),
        bench.variant('two'),
      ],
      precision: { restarts: 1, blocks: 2, sliceMs: 100, warmupMs: 100, latencyMs: 100 },
    });
    const { code, stderr } = await bench.run(['ladder', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const [base, one, two] = bench.result('r.json').variants as MeasuredVariant[];
    assert.equal(base!.step, undefined);
    assert.equal(one!.step?.over, 'base');
    assert.equal(two!.step?.over, 'one');
    assert.ok(two!.step!.cpu.ratio.low > 2, JSON.stringify(two!.step));
    assert.ok(two!.cpuRatio.value > two!.step!.cpu.ratio.value);
  });
});

describe('redline, when something is wrong,', () => {
  test('shows the last lines of a server that did not come up, and exits with 1', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: [bench.variant('plain'), bench.variant('b', { MODE: 'crash' })],
    });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /redline: "b" did not start: it exited with exit code 3\..* \(ERR_REDLINE_SERVER\)\n/,
    );
    assert.match(stderr, /no database at db\.internal:5432/);
    assert.deepEqual(bench.survivors(), []);
  });

  test('says so when nothing listens in time', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('deaf', { MODE: 'deaf' })], readyTimeoutMs: 400 });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(stderr, /"deaf" did not start: nothing listens on port \d+ after 0\.4 s/);
    assert.deepEqual(bench.survivors(), []);
  });

  test('names a command that cannot be run', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [{ name: 'typo', command: 'nodee app.js' }] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(stderr, /"typo" did not start: .*nodee/s);
  });

  test('says which port is taken', async (t) => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => occupant.once('listening', resolve));
    t.after(() => occupant.close());
    const { port } = occupant.address() as AddressInfo;
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [{ ...bench.variant('fixed'), port }] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`Port ${port} of "fixed" is in use by another process`));
  });

  test('says where a variant answers something else', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('a'), bench.variant('b', { BODY: 'help!' })] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /"b" answers GET \/ differently from "a": 5 bytes, not 5; from byte 3 on .*compare: 'status'/,
    );
  });

  test('reports a server that dies under load with its last lines', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('mortal', { DIE_AFTER: '20' })] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(stderr, /"mortal" .*exit code 9.*out of luck/s);
    assert.deepEqual(bench.survivors(), []);
  });

  test('names a wrong config key, a missing file and a wrong option in one line, and exits with 2', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({ variants: [bench.variant('a')], lod: {} } as never);
    const cases: [args: string[], message: RegExp][] = [
      [['bench'], /^redline: redline\.config\.mjs: unknown key "lod"\. \(ERR_REDLINE_CONFIG\)\n$/],
      [
        ['bench', 'nowhere.ts'],
        /^redline: No config at .*nowhere\.ts\. \(ERR_REDLINE_CONFIG_FILE\)\n$/,
      ],
      [['bench', '--blocks', 'ten'], /'ten' is invalid/],
      [['climb'], /unknown command 'climb'/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await bench.run(args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n\s+at /);
    }
  });
});

describe('SIGTERM', { skip: needsWrk }, () => {
  // Ctrl-C: interrupt.test.ts.
  test('leaves no process behind, not even a server that ignores SIGTERM', async (t) => {
    const bench = new Workbench(t);
    const loaded = { LOADED: `${bench.folder}/loaded` };
    bench.writeConfig({
      variants: [bench.variant('a', loaded), bench.variant('b', { MODE: 'stubborn', ...loaded })],
      precision: { restarts: 5, blocks: 100, sliceMs: 200, warmupMs: 500, latencyMs: 100 },
    });
    const child = bench.start(['bench']);
    const ended = finished(child);
    await until('three servers', () => bench.serverPids().length >= 3);
    await until('the load', () => existsSync(loaded.LOADED));
    child.kill('SIGTERM');
    const { code, stderr } = await ended;
    assert.equal(code, 143, stderr);
    assert.match(stderr, /nothing is left running/);
    assert.deepEqual(bench.survivors(), []);
  });
});
