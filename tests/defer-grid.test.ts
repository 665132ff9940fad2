import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type BenchResult,
  type GroupFacts,
  type MeasuredVariant,
  ratioBetween,
  type Slice,
} from '@redline/lab';
import { type GridResult, joinRestarts } from '../benchmarks/defer-grid/grid-result.ts';
import { deferChart } from '../benchmarks/tables/defer-chart.ts';
import { deferGrid } from '../benchmarks/tables/defer-grid.ts';

const cell = { sink: 'redis-local', connections: 10 };
const [base, disk] = ['express-interceptor/redis-local/c10', 'express-disk/redis-local/c10'];

/** What one restart of a cell leaves, as far as the join reads it. */
function restart(rps: Record<string, number>): BenchResult {
  const slices = Object.entries({ ...rps, [`${base} again`]: rps[base]! }).flatMap(
    ([variant, each]) =>
      [1, 2].map((block): Slice => {
        return { restart: 1, block, variant, requests: each, seconds: 1, cpuMicros: 1 };
      }),
  );
  const group = {
    name: `${cell.sink}-c${cell.connections}`,
    baseline: base,
    control: { name: `${base} again` },
    precision: { blocks: 2, sliceMs: 300 },
  } as GroupFacts;
  return {
    startedAt: '2026-01-02T03:04:05.678Z',
    machine: { cores: 2, node: 'v24.0.0', cpuModel: 'a processor' },
    load: { generator: 'wrk' },
    groups: [group],
    variants: Object.entries(rps).map(([name, each]) => ({ name, rps: each }) as MeasuredVariant),
    slices,
  } as BenchResult;
}

test('of two restarts the grid shows both, in the table and in the picture, and claims no ratio', () => {
  const grid = joinRestarts([
    restart({ [base]: 100, [disk]: 200 }),
    restart({ [base]: 100, [disk]: 800 }),
  ]);
  const text = deferGrid(grid, 'defer-grid');
  assert.match(text, /Express, disk \| 24 000 \| 25\.0 \| 2\.00 and 8\.00 × \|/);
  assert.match(text, /These are 1 of the 18 cells/);
  const picture = deferChart(grid, 'The grid', [cell], 'wide');
  assert.match(picture, /○ 2\.00 and 8\.00 ×/);
  assert.doesNotMatch(picture, /class="(b better|band)"/);
});

test('of three restarts the grid shows the ratio with its interval', () => {
  const one = restart({ [base]: 100, [disk]: 300 });
  const grid = joinRestarts([one, one, one]);
  assert.equal(grid.groups![0]!.precision.restarts, 3);
  assert.match(deferGrid(grid, 'defer-grid'), /Express, disk \| 18 000 \| 33\.3 \| 3\.00 × \|/);
  assert.match(deferChart(grid, 'The grid', [cell], 'narrow'), /▲ 3\.00 ×/);
});

test('what the committed grid calls noise can be computed again from its slices', () => {
  const file = join(import.meta.dirname, '../benchmarks/results/defer-grid.json');
  const grid: GridResult = JSON.parse(readFileSync(file, 'utf8'));
  const controls = [...new Set(grid.slices.map(({ variant }) => variant))].filter((name) =>
    name.endsWith(' again'),
  );
  const bands = controls.map((variant) => {
    const other = variant.replace(/ again$/, '');
    const { low, high } = ratioBetween(grid.slices, { variant, other, metric: 'rps' })!;
    return Math.sqrt(high / low) - 1;
  });
  assert.equal(bands.length, grid.groups!.length);
  for (const [at, { precision }] of grid.groups!.entries())
    assert.ok(Math.abs(bands[at]! / precision.rpsBand - 1) < 1e-9, `${bands[at]}`);
});
