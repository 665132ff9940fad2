// The 18 cells of the article's grid, with one restart each: benchmarks/proofs/defer-grid.ts repeats a cell as often as time
// permits.
import { defineConfig } from '@redline/lab';
import {
  connections,
  groupOf,
  isOnRedis,
  nameOf,
  platforms,
  sinks,
  startServices,
  toVariant,
  ways,
} from '../defer-servers.ts';

const cells = Object.keys(sinks).flatMap((sink) => connections.map((count) => ({ sink, count })));
const contestants = platforms.flatMap((platform) =>
  Object.keys(ways).map((way) => ({ platform, way })),
);

export default defineConfig({
  name: 'defer-grid',
  title: 'A job for every request: the grid',
  requests: ['/orders'],
  load: { turns: false },
  // Half a minute per cell: another restart is more informative than longer slices.
  precision: { restarts: 1, blocks: 2, sliceMs: 300, warmupMs: 1_500, latencyMs: 100 },
  groups: Object.fromEntries(
    cells.map(({ sink, count }) => [
      groupOf(sink, count),
      {
        title: `${sinks[sink]!.title}, ${count} connections`,
        load: { connections: count },
        baseline: nameOf('express', 'interceptor', { sink, count }),
      },
    ]),
  ),
  variants: cells.flatMap((cell) =>
    contestants.map(({ platform, way }) => toVariant(platform, way, cell)),
  ),
  setup: () =>
    startServices(
      cells
        .filter(({ sink }) => isOnRedis(sink))
        .flatMap((cell) => contestants.map(({ platform, way }) => nameOf(platform, way, cell))),
    ),
});
