// The table of the groups git and thumbnail of `npm run bench -- spawn` in the README of @redline/child-process.
import type { BenchResult, MeasuredVariant } from '@redline/lab';
import { measured, measuredOn, ratioText, rawData, table } from './format.ts';

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
      const variant = measured(result, `${name}/${task}`);
      if (variant === undefined) return [];
      const { loopDelayMs, spawnCallMicros } = variant as Figures;
      const ratio = name === 'node' ? '1.00 ×' : ratioText(variant.rpsRatio);
      const cells = [ratio, variant.rps.toFixed(0)];
      return [[title, note, ...cells, figure(loopDelayMs?.p99), figure(spawnCallMicros?.p99)]];
    }),
  );
  const connections = result.groups!.map(({ load }) => load.connections).join(' and ');
  const head = [
    'for each request',
    '',
    'against Node',
    'requests/s',
    'event-loop delay ms, p99',
    '`spawn()` µs, p99',
  ];
  return `Programs that servers do start for each request, with the event-loop delay that goes with it:

${table(head, rows)}

${connections} connections. ${measuredOn(result)}. ${rawData('spawn-real')}`;
}

function figure(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(1);
}
