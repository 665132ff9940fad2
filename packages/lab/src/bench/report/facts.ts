import { stealText } from '../../report/words.ts';
import type { BenchResult } from '../result.ts';
import { fixed, milliseconds, plural, seconds } from '../../report/format.ts';
import { markup, type Markup } from '../../report/markup.ts';
import { noiseOf } from './rows.ts';
import { noiseText } from '../../report/words.ts';
import { floorText, rounds, warmUpText } from './words.ts';

/** Lists the machine and the load, which the figures depend on. A fact that is not visible is marked as such. */
export function facts(result: BenchResult): Markup {
  const { machine, load, precision } = result;
  const noise = noiseOf(result);
  const floor = floorText(result);
  const entries: [name: string, value: string][] = [
    [
      'Machine',
      `${machine.cpuModel}, ${plural(machine.cores, 'core')}, ${fixed(machine.memoryGiB)} GiB`,
    ],
    ['Virtualisation, steal', `${machine.virtualisation}; ${stealText(machine.steal)}`],
    ['Kernel, governor', `${machine.kernel}; governor ${machine.governor}`],
    ['Runtime', `Node.js ${machine.node.replace(/^v/, '')}, V8 ${machine.v8}`],
    ['Load', `${plural(load.connections, 'connection')}, closed loop`],
    ['Generator', `${load.generator}, ${plural(load.threads, 'thread')}`],
    ['Requests', load.requests.join(', ')],
    [
      'Latency',
      `open loop, ${fixed(load.openLoopRps)} requests/s, ${milliseconds(precision.latencyMs)}`,
    ],
    ['Pinning', machine.pinning],
    ['Rounds', `${rounds(result)} in ${seconds(result.durationSeconds)}`],
    ['Slices', `${milliseconds(precision.sliceMs)} each, after ${warmUpText(result)} of warm-up`],
    ['A/A noise', noise ? noiseText(noise) : 'not measured'],
    ...(floor === undefined ? [] : [['Floor', floor] as [string, string]]),
  ];
  return markup`<dl class="facts">${entries.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
