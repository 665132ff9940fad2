// The table of the groups git and thumbnail of `npm run bench -- spawn` in the README of @redline/child-process.
import { isMeasured, type BenchResult, type MeasuredVariant } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText } from './ratio-text.ts';

/** Figures measured by the servers themselves. */
interface Figures extends MeasuredVariant {
  readonly spawnCallMicros?: { readonly p99: number };
  readonly loopDelayMs?: { readonly p99: number };
}

const tasks = { git: '`git log -5`', thumbnail: 'a thumbnail by `gm`, one thread' };
const notes = {
  node: 'node, node:child_process',
  'posix-spawn': 'posix-spawn, on the main thread',
  redline: '**redline**',
};

export function spawnRealTable(result: BenchResult): string {
  const rows = Object.entries(tasks).flatMap(([task, title]) =>
    Object.entries(notes).flatMap(([name, note]) => {
      const variant = result.variants.find((each) => each.name === `${name}/${task}`);
      if (variant === undefined || !isMeasured(variant)) return [];
      const { loopDelayMs, spawnCallMicros } = variant as Figures;
      const ratio = name === 'node' ? '1.00 ×' : ratioText(variant.rpsRatio);
      const cells = [ratio, variant.rps.toFixed(0)];
      return [[title, note, ...cells, figure(loopDelayMs?.p99), figure(spawnCallMicros?.p99)]];
    }),
  );
  const { machine, startedAt, groups } = result;
  const { restarts, blocks } = groups![0]!.precision;
  const connections = groups!.map((group) => group.load.connections).join(' and ');
  return [
    'Programs that servers do start for each request, with the event-loop delay that goes with it:',
    '',
    table(
      [
        'for each request',
        '',
        'against Node',
        'requests/s',
        'event-loop delay ms, p99',
        '`spawn()` µs, p99',
      ],
      rows,
    ),
    '',
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}), Node ${machine.node.slice(1)}; ${ofRun(restarts, blocks)}, ${connections} connections: [benchmarks/results/spawn-real.json](../../benchmarks/results/spawn-real.json).`,
  ].join('\n');
}

function figure(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(1);
}
