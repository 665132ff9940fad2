import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { MeasuredVariant } from '../../src/bench/result.ts';
import { Workbench } from './run-cli.ts';

describe('redline bench with groups', () => {
  test('compares each variant within its group, against a control of that group', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      title: 'Two questions',
      variants: [
        { ...bench.variant('plain/a'), group: 'a' },
        { ...bench.variant('slow/a', { SPIN_MICROS: '400' }), group: 'a' },
        { ...bench.variant('slow/b', { SPIN_MICROS: '400', BODY: 'other' }), group: 'b' },
        { ...bench.variant('plain/b', { BODY: 'other' }), group: 'b' },
      ],
      precision: { restarts: 1, blocks: 2, sliceMs: 100, warmupMs: 0, latencyMs: 100 },
      groups: { b: { title: 'The second', load: { connections: 3 }, precision: { blocks: 1 } } },
    });
    const { code, stderr, stdout } = await bench.run([
      'bench',
      '--json',
      'r.json',
      '--html',
      'r.html',
    ]);
    assert.equal(code, 0, stderr);
    const result = bench.result('r.json');
    assert.equal(result.title, 'Two questions');
    assert.deepEqual(
      result.variants.map(({ name, group }) => [name, group]),
      [
        ['plain/a', 'a'],
        ['slow/a', 'a'],
        ['slow/b', 'b'],
        ['plain/b', 'b'],
      ],
    );
    const [plainA, slowA, slowB, plainB] = result.variants as MeasuredVariant[];
    assert.equal(plainA!.verdict, 'base');
    assert.ok(slowA!.cpuRatio.high < 1, JSON.stringify(slowA!.cpuRatio));
    assert.equal(slowB!.verdict, 'base');
    assert.ok(plainB!.cpuRatio.low > 1, JSON.stringify(plainB!.cpuRatio));
    const [a, b] = result.groups!;
    assert.deepEqual([a!.name, a!.baseline, a!.control.name], ['a', 'plain/a', 'plain/a again']);
    assert.deepEqual([b!.name, b!.baseline, b!.control.name], ['b', 'slow/b', 'slow/b again']);
    assert.deepEqual([b!.title, b!.load.connections, b!.precision.blocks], ['The second', 3, 1]);
    assert.deepEqual([a!.load.connections, a!.precision.blocks], [8, 2]);
    assert.match(stdout, /Two questions, a/);
    assert.match(stdout, /The second/);
    assert.ok(existsSync(`${bench.folder}/r-a.html`));
    assert.match(readFileSync(`${bench.folder}/r-b.html`, 'utf8'), /The second/);
    assert.deepEqual(bench.survivors(), []);
  });

  test('pins each group as it asks for', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: ['pinned', 'free', 'again'].map((group) => ({
        ...bench.variant(`it/${group}`),
        group,
      })),
      load: { connections: 8, turns: false },
      groups: { free: { load: { pin: false } } },
    });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const [pinned, free, again] = bench.result('r.json').groups!.map(({ pinning }) => pinning);
    assert.equal(free, 'none');
    assert.equal(pinned, again);
    assert.equal(bench.result('r.json').machine.pinning, pinned);
  });

  test('shows CPU as a multiple of the floor, in the groups that have it', async (t) => {
    const bench = new Workbench(t);
    const variants = ['slow/a', 'floor/a', 'slow/b', 'floor/b'].map((name) => ({
      ...bench.variant(name, { SPIN_MICROS: name.startsWith('slow') ? '400' : '0' }),
      group: name.at(-1),
    }));
    bench.writeConfig({ variants, floor: 'floor/a', groups: { b: { floor: 'floor/b' } } });
    const args = ['bench', '--json', 'r.json', '--md', 'r.md'];
    const { code, stderr, stdout } = await bench.run(args);
    assert.equal(code, 0, stderr);
    const { variants: measured, groups } = bench.result('r.json');
    const [slow, floor, other] = measured as MeasuredVariant[];
    assert.ok(slow!.floorRatio!.low > 1, JSON.stringify(slow!.floorRatio));
    assert.equal(floor!.floorRatio, undefined);
    assert.ok(other!.floorRatio!.value > 1);
    assert.deepEqual(
      groups!.map((group) => group.floor),
      ['floor/a', 'floor/b'],
    );
    const sentence = /multiple of the floor, floor\/b with [\d.]+ µs: slow\/b [\d.]+ \[/;
    assert.match(stdout.replaceAll(/\s+/g, ' '), sentence);
    assert.match(readFileSync(`${bench.folder}/r.md`, 'utf8'), sentence);

    const alone = await bench.run(['bench', '--only', 'slow/a', '--json', 'alone.json']);
    assert.equal(alone.code, 0, alone.stderr);
    assert.equal(bench.result('alone.json').groups![0]!.floor, undefined);
  });

  test('leaves out the groups that --only names nothing of', async (t) => {
    const bench = new Workbench(t);
    bench.writeConfig({
      variants: ['a', 'b'].map((group) => ({ ...bench.variant(`it/${group}`), group })),
    });
    const { code, stderr } = await bench.run(['bench', '--only', 'it/b', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      bench.result('r.json').groups!.map(({ name }) => name),
      ['b'],
    );
  });
});

describe('a probe', () => {
  test('adds the medians of what the server measured in each slice to the variant', async (t) => {
    const bench = new Workbench(t);
    const probed = { ...bench.variant('probed', { PROBE: 'count' }), probe: '/probe' };
    bench.writeConfig({ variants: [probed, bench.variant('plain')] });
    const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
    assert.equal(code, 0, stderr);
    const { variants, slices } = bench.result('r.json');
    const figures = variants[0] as unknown as { seen: number; spread: { p50: number } };
    assert.equal(figures.spread.p50, 3);
    assert.ok(figures.seen > 0);
    for (const { variant, probe, requests } of slices.filter((slice) => slice.probe)) {
      assert.match(variant, /^probed/);
      assert.ok(Number(probe!['seen']) >= requests, 'a probe tells of its slice alone');
    }
    assert.equal('seen' in variants[1]!, false);
  });

  test('that answers no figures ends the run', async (t) => {
    const bench = new Workbench(t);
    const probed = { ...bench.variant('probed', { PROBE: 'soon' }), probe: '/probe' };
    bench.writeConfig({ variants: [probed] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /"probed(?: again)?" answers its probe \/probe with status 200 and "soon"/,
    );
  });
});

describe(
  'processes that a server starts for a request',
  { skip: process.platform !== 'linux' },
  () => {
    test('are counted beside the server, not with it', async (t) => {
      const bench = new Workbench(t);
      bench.writeConfig({
        variants: [bench.variant('plain'), bench.variant('starts', { CHILDREN: '1' })],
        precision: { restarts: 1, blocks: 1, sliceMs: 1_000, warmupMs: 0, latencyMs: 100 },
      });
      const { code, stderr } = await bench.run(['bench', '--json', 'r.json']);
      assert.equal(code, 0, stderr);
      const [plain, starts] = bench.result('r.json').variants as MeasuredVariant[];
      assert.equal(plain!.endedProcessesMicrosPerRequest, undefined);
      assert.ok(starts!.endedProcessesMicrosPerRequest! > 5_000, JSON.stringify(starts));
    });
  },
);
