import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { StairsResult } from '../../src/stairs/result.ts';
import { stairs } from './run-stairs.ts';

/** Asserts that the middleware that allocates a megabyte leads the column. */
export async function showsAllocation(t: TestContext, where: 'heap' | 'buffer'): Promise<void> {
  const { code, stdout, stderr, bench } = await stairs(t, 'allocating.cjs', '/feed', {
    args: ['--json', 'r.json', '--html', 'r.html', '--md', 'table.md'],
    env: { ALLOCATES: where },
  });
  assert.equal(code, 0, stderr);
  const { stages, whole, slices, memorySlices } = JSON.parse(bench.read('r.json')) as StairsResult;
  const bytes = (name: string): number =>
    stages.find((stage) => stage.name === name)!.memory!.allocatedBytes.value;
  assert.ok(bytes('allocate') > 800_000 && bytes('allocate') < 1_300_000, stdout);
  for (const { name } of stages) {
    if (name !== 'allocate') assert.ok(bytes(name) < 300_000, `${name}\n${stdout}`);
  }
  const { allocatedBytes, collectorShare } = whole.memory!;
  assert.ok(allocatedBytes.value > 800_000, stdout);
  assert.ok(collectorShare > 0 && collectorShare < 1, stdout);
  // The slices that are timed count no memory.
  assert.ok(slices.every((slice) => slice.allocatedBytes === undefined));
  assert.ok(memorySlices!.length > 0);
  assert.match(stdout.replaceAll(/\s+/g, ' '), /most of the app’s in allocate/);
  assert.match(bench.read('table.md'), /\| kB \| gc % \|/);
  assert.match(bench.read('r.html'), /data-l="kB"/);
}
