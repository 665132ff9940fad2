import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Durations } from '../../src/access-log/durations.ts';
import { RoutePatterns } from '../../src/access-log/route-pattern.ts';
import { RouteCosts } from '../../src/access-log/top.ts';

const costsOf = (
  paths: Iterable<string>,
  keepQuery = false,
): ReturnType<RouteCosts['summarise']> => {
  const costs = new RouteCosts(new RoutePatterns([], { keepQuery }));
  for (const path of paths) costs.add({ method: 'GET', path, status: 200, durationMs: 1 });
  return costs.summarise();
};
const letters = (index: number): string =>
  index.toString(26).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!);

describe('routes with many values', () => {
  test('become one, and frequent values beside them keep their names', () => {
    const paths = Array.from({ length: 5_000 }, (_, index) => [
      `/blog/post-${letters(index)}/read`,
      '/blog/archive',
      '/api',
    ]).flat();
    const { routes, folded } = costsOf(paths);
    assert.deepEqual(routes.map(({ route, requests }) => [route, requests]).toSorted(), [
      ['/api', 5_000],
      ['/blog/:name/read', 5_000],
      ['/blog/archive', 5_000],
    ]);
    assert.deepEqual(folded, ['/blog/:name']);
    assert.match(
      routes.find(({ route }) => route === '/blog/:name/read')!.example,
      /^\/blog\/post-/,
    );
  });

  test('become one as queries too', () => {
    const paths = Array.from({ length: 2_000 }, (_, index) => `/feed?after=${index}`);
    const { routes, folded } = costsOf(paths, true);
    assert.deepEqual(
      routes.map(({ route, requests }) => [route, requests]),
      [['/feed?…', 2_000]],
    );
    assert.deepEqual(folded, ['/feed?…']);
  });

  test('stay few on several levels at once', () => {
    function* paths(): Generator<string> {
      for (let index = 0; index < 200_000; index++) {
        yield `/${letters(index % 400)}/${letters(index % 397)}/${letters(index % 389)}`;
      }
    }
    const { routes } = costsOf(paths());
    assert.ok(routes.length < 20_000, `${routes.length}`);
    assert.equal(
      routes.reduce((sum, { requests }) => sum + requests, 0),
      200_000,
    );
  });

  test('are told apart while they are few', () => {
    const { routes, folded } = costsOf(
      Array.from({ length: 300 }, (_, index) => `/${letters(index)}x`),
    );
    assert.equal(routes.length, 300);
    assert.equal(folded, undefined);
  });
});

describe('durations', () => {
  test('are exact while few, and within half a percent beyond', () => {
    const few = new Durations();
    const many = new Durations();
    for (let index = 1; index <= 1_000; index++) few.add(index);
    for (let index = 1; index <= 100_000; index++) many.add(index / 10);
    assert.deepEqual(few.quantiles(0.5, 0.99), [500.5, 990.01]);
    const [p50, p99] = many.quantiles(0.5, 0.99);
    assert.ok(Math.abs(p50! / 5_000 - 1) < 0.006, `${p50}`);
    assert.ok(Math.abs(p99! / 9_900 - 1) < 0.006, `${p99}`);
    assert.equal(many.count, 100_000);
  });

  test('merge, whichever has buckets', () => {
    for (const [one, two] of [
      [10, 10],
      [10, 5_000],
      [5_000, 10],
      [5_000, 5_000],
    ] as const) {
      const [a, b] = [one, two].map((count) => {
        const durations = new Durations();
        for (let index = 0; index < count; index++) durations.add(7);
        return durations;
      });
      a!.merge(b!);
      assert.equal(a!.count, one + two);
      assert.equal(a!.totalMs, (one + two) * 7);
      assert.ok(Math.abs(a!.quantiles(0.5)[0]! / 7 - 1) < 0.006);
    }
  });
});
