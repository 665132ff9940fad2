// A ratio hangs on the processor, so the headline is a range over models, and each model has one file.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { BenchResult } from '@redline/lab';
import { firstFigure, firstText } from '../benchmarks/tables/first-screen.ts';
import { gainText, figuresOf } from '../benchmarks/tables/headline.ts';
import { fileOf, modelOf, rangeText, runsOf } from '../benchmarks/tables/runs-by-model.ts';

const results = join(import.meta.dirname, '../benchmarks/results');

suite('results by processor model', () => {
  for (const name of ['frameworks', 'http']) {
    test(`${name} has a run of at least two models, each in the file of its name`, () => {
      const runs = runsOf(name);
      const files = runs.map((run) => `${fileOf(run)}.json`);
      assert.ok(new Set(runs.map(modelOf)).size >= 2, `models: ${runs.map(modelOf).join(', ')}`);
      assert.deepEqual(files.toSorted(), readdirSync(join(results, name)).toSorted());
    });
  }

  test('nothing that ran beside the floor of its machine is below it', () => {
    const floors = runsOf('frameworks').flatMap(({ variants }) =>
      variants.flatMap((variant) => ('floorRatio' in variant ? [variant.floorRatio!] : [])),
    );
    assert.ok(floors.length > 0);
    for (const { high } of floors) assert.ok(high > 1, `at most ${high} of the floor`);
  });

  test('the headline says the lowest and the highest, with their models', () => {
    const frameworks = runsOf('frameworks');
    const figure = figuresOf({ ladder: { ...frameworks[0]!, variants: [] }, frameworks }).express!;
    const text = gainText(figure);
    for (const run of frameworks) assert.ok(text.includes(` on ${modelOf(run)}`), text);
    const values = figure.models!.map(({ ratio }) => ratio.value);
    assert.deepEqual(
      values,
      values.toSorted((a, b) => a - b),
    );
  });

  test('the first screen shows the first framework that was measured narrowly on every model', () => {
    const [run] = runsOf('frameworks');
    const on = (model: string, ratios: Record<string, number[]>): BenchResult => ({
      ...run!,
      machine: { ...run!.machine, cpuModel: model },
      variants: Object.entries(ratios).map(([name, [value, low, high]]) => ({
        ...run!.variants.find((each) => 'rpsRatio' in each)!,
        name: `${name}-redline/node26`,
        rpsRatio: { value: value!, low: low!, high: high! },
      })),
    });
    const wide = on('A', { express5: [3, 2.5, 3.6], fastify: [2, 1.9, 2.1] });
    const narrow = on('B', { express5: [3, 2.9, 3.1], fastify: [3, 2.9, 3.1] });
    const figure = firstFigure([wide, narrow]);
    assert.equal(figure.title, 'Fastify');
    assert.deepEqual(
      figure.models.map(({ model }) => model),
      ['A', 'B'],
    );
    assert.match(firstText(figure), /server with 2\.0 to 3\.0 × the requests per second/);
    // One model alone is half of the truth.
    assert.throws(() => firstFigure([narrow]), /measure longer/);
  });

  test('of three models a range names the ends; of one, the one', () => {
    const on = (model: string, value: number) => ({
      model,
      ratio: { value, low: value - 0.1, high: value + 0.1 },
    });
    assert.equal(rangeText([on('A', 1.8), on('B', 2), on('C', 3.5)]), '1.80 × on A to 3.50 × on C');
    assert.equal(rangeText([on('A', 1.8)]), '1.80 × on A');
    assert.equal(rangeText([]), '–');
  });
});
