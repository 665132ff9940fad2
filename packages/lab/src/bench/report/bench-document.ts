import { type Document, notes, present } from '../../document/document.ts';
import { say, strong, type Text, verdict } from '../../document/text.ts';
import { fixed, milliseconds, percent, plural, seconds } from '../../report/format.ts';
import {
  machineFacts,
  noiseText,
  processorText,
  restartsHint,
  stealText,
} from '../../report/words.ts';
import { limitSentences } from '../limit.ts';
import { type BenchResult, isMeasured } from '../result.ts';
import { type Figures, figuresOf } from './figures.ts';
import { findings } from './findings.ts';
import { ladderSection, stepsSection } from './ladder.ts';
import { benchMethod } from './method.ts';
import { noiseOf } from './rows.ts';
import { floorText, marginOf, resolutionText, rounds, trustOf, warmUpText } from './words.ts';

/** Shows a comparison of variants: what changed, by how much, and whether to believe it. Raw slices stay in the JSON. */
export function benchDocument(result: BenchResult): Document {
  const { command, variants, load, machine, limit, durationSeconds } = result;
  const figures = figuresOf(result);
  const noise = noiseOf(result);
  const connections = plural(load.connections, 'connection');
  return {
    ...result,
    label: command.toUpperCase(),
    aside: [plural(variants.length, 'variant'), rounds(result), connections].join(' · '),
    about: [
      `${processorText(machine)} · ${machine.kernel} · Node.js ${nodeOf(result)}`,
      `${machine.pinning} · ${stealText(machine.steal)}`,
      `${resolutionText(result) ?? ''} A/A noise ${noise ? noiseText(noise) : 'not measured'}`.trim(),
    ],
    resolution: resolutionText(result),
    facts: factsOf(result),
    alarm: alarmOf(result),
    warnings: present([missingControl(result), ...result.warnings]),
    findings: findings(result, figures),
    ...benchMethod(result),
    sections: [
      {
        id: 'limit',
        heading: 'Limit',
        parts: [notes(limit ? limitSentences(limit) : [], ['markdown'])],
      },
      ladderSection(result, figures),
      stepsSection(figures),
      {
        id: 'legend',
        heading: 'Legend',
        parts: [
          notes([floorText(result)], ['terminal', 'markdown']),
          notes(legend(result, figures), ['terminal']),
          notes(
            [`${load.requests.join(', ')}, in ${fixed(durationSeconds / 60, 1)} minutes.`],
            ['markdown'],
          ),
        ],
      },
    ],
  };
}

function nodeOf({ machine }: BenchResult): string {
  return machine.node.replace(/^v/, '');
}

/** Lists the machine and the load, which the figures depend on. */
function factsOf(result: BenchResult): Document['facts'] {
  const { machine, load, precision } = result;
  const noise = noiseOf(result);
  const floor = floorText(result);
  return [
    ...machineFacts(machine),
    ['Runtime', `Node.js ${nodeOf(result)}, V8 ${machine.v8}`],
    ['Load', `${plural(load.connections, 'connection')}, closed loop`],
    ['Generator', `${load.generator}, ${plural(load.threads, 'thread')}`],
    ['Requests', load.requests.join(', ')],
    [
      'Latency',
      `open loop, ${fixed(load.openLoopRps)} requests/s, ${milliseconds(precision.latencyMs)}`,
    ],
    ['Rounds', `${rounds(result)} in ${seconds(result.durationSeconds)}`],
    ['Slices', `${milliseconds(precision.sliceMs)} each, after ${warmUpText(result)} of warm-up`],
    ['A/A noise', noise ? noiseText(noise) : 'not measured'],
    floor !== undefined && ['Floor', floor],
  ];
}

/** Explains why no verdict can be believed; undefined if the interval of the A/A control holds 1. */
function alarmOf(result: BenchResult): Text | undefined {
  const { control } = result;
  const trust = trustOf(result);
  if (!isMeasured(control) || (trust.cpu && trust.rps)) return undefined;
  const metric = trust.cpu ? 'requests per second' : 'CPU';
  const ratio = trust.cpu ? control.rpsRatio : control.cpuRatio;
  const consequence = trust.cpu
    ? 'The verdicts on requests per second are withheld; those on CPU stand.'
    : 'All verdicts are withheld: stop other work on the machine or measure more restarts, then run again.';
  return say`${strong('The base differs from itself.')} The base, measured a second time under another name, reads ${fixed(ratio.value, 3)} × itself in ${metric} [${fixed(ratio.low, 3)}, ${fixed(ratio.high, 3)}]. The method finds a difference where there is none. ${consequence}`;
}

function missingControl({ control }: BenchResult): string | false {
  if (isMeasured(control)) return false;
  return `The A/A control was not measured (${control.skipped.replace(/\.$/, '')}): nothing here shows what the method calls a difference when there is none.`;
}

function legend(result: BenchResult, figures: Figures): Text[] {
  if (!trustOf(result).cpu) return [];
  const { cpuBand, rpsBand } = result.precision;
  const same = percent(cpuBand) === percent(rpsBand);
  const band = same ? percent(cpuBand) : `${percent(cpuBand)} CPU, ${percent(rpsBand)} rps`;
  const hints = figures.measured.flatMap((row) => {
    const hint = restartsHint(row.cpu);
    return hint === undefined ? [] : [`${row.name} ${hint}`];
  });
  const isOpen = [...figures.measured, ...figures.steps].some(
    ({ cpu, rps }) => cpu.reading === 'unresolved' || rps.reading === 'unresolved',
  );
  const some = hints.length > 3 ? [...hints.slice(0, 3), '…'] : hints;
  const settle = hints.length > 0 ? ` To settle it: ${some.join(', ')}.` : '';
  return [
    say`${verdict('better', '')} ${verdict('worse', '')} changed: beyond base ± ${band}, base not in the interval. ${verdict('same')}: around 1, within ± ${percent(marginOf(result))}.`,
    ...(isOpen ? [say`${verdict('unresolved')}: neither.${settle}`] : []),
    'A mark at p99: its own interval does not touch the interval of the base.',
    ...(figures.rows.some(({ role }) => role === 'beside')
      ? ['Indented: beside the ladder, not a rung; its step is against the rung before.']
      : []),
  ];
}
