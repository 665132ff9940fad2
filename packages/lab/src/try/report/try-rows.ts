import { nodeCommandOf } from '../../project/node-command.ts';
import { noiseOf } from '../../bench/report/rows.ts';
import type { Interval } from '../../figures.ts';
import { columnDecimals, fixed, plural, range } from '../../report/format.ts';
import { type Estimate, type Reading, WORDS } from '../../report/reading.ts';
import { noiseText } from '../../report/words.ts';
import type { TryResult } from '../result.ts';
import { triedOf } from '../verdict.ts';

/** One figure of the app, unchanged and with redline. */
export interface TryRow {
  what: string;
  before: string;
  after: string;
  /** Set for figures with a verdict. */
  gain?: { ratio: string; range: string; reading: Reading; word: string };
}

export function tryRows({ bench }: TryResult): TryRow[] {
  const tried = triedOf(bench);
  if (tried === undefined) return [];
  const { before } = tried;
  const { variant: after, rps, cpu, rpsIsLowerBound } = tried.after;
  const latency = columnDecimals([intervalOf(before.latencyMs), intervalOf(after.latencyMs)], 1);
  const ms = (value: number): string => fixed(value, latency);
  const micros = after.cpuMicrosPerRequest < 100 ? 1 : 0;
  return [
    {
      what: 'requests/s',
      before: fixed(before.rps),
      after: `${rpsIsLowerBound ? '≥\u00a0' : ''}${fixed(after.rps)}`,
      gain: gainOf(after.rpsRatio, rps),
    },
    {
      what: 'CPU µs per request',
      before: fixed(before.cpuMicrosPerRequest, micros),
      after: fixed(after.cpuMicrosPerRequest, micros),
      gain: gainOf(after.cpuRatio, cpu),
    },
    { what: 'p99 ms', before: ms(before.latencyMs.p99), after: ms(after.latencyMs.p99) },
    { what: 'RSS MiB', before: fixed(before.rssMiB), after: fixed(after.rssMiB) },
  ];
}

function gainOf(ratio: Interval, { reading }: Estimate): NonNullable<TryRow['gain']> {
  const decimals = columnDecimals([ratio], 2);
  return {
    ratio: `${fixed(ratio.value, decimals)}\u00a0×`,
    range: range(ratio, decimals),
    reading,
    word: WORDS[reading],
  };
}

function intervalOf(latency: { p99: number; p99Low: number; p99High: number }): Interval {
  return { value: latency.p99, low: latency.p99Low, high: latency.p99High };
}

/** Describes the circumstances that the figures depend on, in a few words each. */
export function circumstances({ app, bench, packages, compared }: TryResult): {
  where: string;
  checked: string;
  what: string;
} {
  const { machine, precision } = bench;
  // The same figure as the bands that decide the verdicts, not another one from the same control.
  const noise =
    noiseOf(bench) === undefined
      ? 'not measured'
      : noiseText({ cpu: precision.cpuBand, rps: precision.rpsBand });
  return {
    where: `${app.framework === undefined ? '' : `${app.framework}, `}port ${app.port ?? 'from PORT'} · Node ${app.node} · ${machine.cpuModel}, ${plural(machine.cores, 'core')}`,
    checked: `${compared === 'body' ? 'Both send the same bytes.' : 'Bodies change from one request to the next, so only the status was compared.'} A/A noise ${noise} in ${plural(precision.restarts, 'restart')}.`,
    what: `${packages.map(({ name, version }) => `${name} ${version}`).join(' and ')}, imported before the app.`,
  };
}

/** Placeholder: the app uses the port in a command's URL. */
const anyPort = 3000;

/** Suggests the next command for the same requests; doctor takes any command, stairs only one of node. */
export function nextCommand({ app, bench }: TryResult): string {
  const [first = 'GET /'] = bench.load.requests;
  const path = /^GET (\/\S*)$/.exec(first)?.[1];
  const node =
    app.nodeCommand ?? nodeCommandOf({ command: app.command.split(' '), env: {} }, undefined);
  if (node === undefined || path === undefined) return `redline doctor -- ${app.command}`;
  const url = `http://127.0.0.1:${app.port ?? anyPort}${path}`;
  return `redline stairs ${/[&?]/.test(url) ? `'${url}'` : url} -- ${node}`;
}
