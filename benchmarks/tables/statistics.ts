// The texts of docs/guide/statistics.md about the proofs in benchmarks/proofs.
import { percent, rawData, table } from './format.ts';

interface Interval {
  value: number;
  low: number;
  high: number;
}

export interface StairsInjection {
  summary: {
    runs: number;
    requestMicros: number;
    found: Record<string, number>;
    read: Record<string, [number, number]>;
    zeroCostStages: number;
    falselyFlagged: number;
    widestStageShare: number;
    runsWithin15Permille: number;
    longestSeconds: number;
  };
  loopCost: { added: { loops: number[]; length: number; addedMicros: Interval }[] };
}

type Words = Record<'changed' | 'same' | 'unresolved' | 'withheld', number>;

export interface Verdicts {
  recordedRestarts: number;
  runs: number;
  restartsPerRun: number;
  blocksPerRestart: number;
  secondsPerRun: number;
  sameServer: Words;
  twin: Words;
  ratioOfTwin: Interval;
  /** The twin, scaled to 5 %. */
  fivePercentSlower: Words;
}

export interface VerdictsModel {
  models: {
    restarts: number;
    blocks: number;
    turns: boolean;
    startSpread: number;
    disturbed: number;
    copyChanged: number;
    copySame: number;
    twinChanged: number;
    twinSame: number;
    withheld: number;
    intervalHoldsTruth: number;
    hintsFollowed: number;
    hintsSettled: number;
  }[];
}

export interface StairsAsync {
  summary: Record<
    string,
    {
      injections: number;
      inTheRightStage: number;
      read: Record<string, [number, number]>;
      otherStages: number;
      falselyBlamed: number;
    }
  >;
}

const appNames: Record<string, string> = {
  express: 'Express',
  nest: 'Nest',
  'express-sequelize': 'Express, Sequelize',
  'nest-typeorm': 'Nest, TypeORM',
};

/** The text of docs/guide/stairs.md about costs injected into asynchronous code. */
export function stairsAsyncText({ summary }: StairsAsync): string {
  const apps = Object.entries(summary);
  const amounts = Object.keys(apps[0]![1].read);
  const rows = apps.map(([conditions, found]) => [
    // "express", or "express, 60 s".
    conditions.replace(/^[^,]+/, (app) => appNames[app] ?? app),
    ...amounts.map((amount) => found.read[amount]!.map((each) => each.toFixed(0)).join(' to ')),
    `${found.inTheRightStage} of ${found.injections}`,
    `${found.falselyBlamed} of ${found.otherStages}`,
  ]);
  const head = [
    'app',
    ...amounts.map((amount) => `${amount} were read as`),
    'in the right stage, within 15 %',
    'other stages blamed',
  ];
  return `${table(head, rows)}

${rawData('stairs-async')}`;
}

export function verdictsText(proof: Verdicts): string {
  const words = ['changed', 'same', 'unresolved', 'withheld'] as const;
  const row = (name: string, counts: Words): string[] => [
    name,
    ...words.map((word) => String(counts[word])),
  ];
  const slower = ({ value }: Interval): string => percent(1 / value - 1);
  const twin = `the twin, which read ${slower(proof.ratioOfTwin)} slower`;
  const { restartsPerRun, blocksPerRestart, secondsPerRun, runs, recordedRestarts } = proof;
  return `${table(
    [`of ${proof.runs} runs`, ...words],
    [
      row('the server against its copy', proof.sameServer),
      row(twin, proof.twin),
      row('the same, its CPU scaled to 5 %', proof.fivePercentSlower),
    ],
  )}

${runs} runs of ${restartsPerRun} restarts × ${blocksPerRestart} blocks, drawn from ${recordedRestarts} recorded restarts. A run takes ${secondsPerRun} seconds.
${rawData('verdicts')}`;
}

export function verdictsModelText({ models }: VerdictsModel): string {
  return table(
    [
      'restarts × blocks',
      'starts differ by',
      'disturbed',
      'copy *changed*',
      'copy *same*',
      '5 % *changed*',
      '5 % *same*',
      'withheld',
      'interval holds the truth',
      'hints that settled',
    ],
    models.map((model) => [
      `${model.restarts} × ${model.blocks}${model.turns ? ' in turns' : ''}`,
      percent(model.startSpread),
      percent(model.disturbed),
      percent(model.copyChanged),
      percent(model.copySame),
      percent(model.twinChanged),
      percent(model.twinSame),
      percent(model.withheld),
      percent(model.intervalHoldsTruth),
      model.hintsFollowed === 0
        ? '–'
        : `${Math.round(model.hintsSettled * model.hintsFollowed)} of ${model.hintsFollowed}`,
    ]),
  );
}

export function injectionText({ summary, loopCost }: StairsInjection): string {
  const head = ['put into a stage', 'read, lowest to highest', 'within its interval'];
  const rows = Object.entries(summary.found).map(([amount, found]) => {
    const [low, high] = summary.read[amount]!;
    return [amount, `${micros(low)} to ${micros(high)} µs`, `${found} of ${summary.runs} runs`];
  });
  return `${table(head, rows)}

${summary.runs} runs of at most ${summary.longestSeconds.toFixed(0)} seconds on a request of ${summary.requestMicros.toFixed(0)} µs. In ${summary.runsWithin15Permille} of them every
stage was known to ± 1.5 % of the request or better, in the worst to ± ${percent(summary.widestStageShare)}. Of ${summary.zeroCostStages} functions that do nothing, ${summary.falselyFlagged} were
said to cost something.

What a loop adds to a request when it is switched on, and nothing is cut:

${loopTable(loopCost.added)}

${rawData('stairs-injection')}`;
}

function loopTable(added: StairsInjection['loopCost']['added']): string {
  const single = added.filter(({ loops }) => loops.length === 1);
  const rows = single.flatMap(({ length, addedMicros }) => {
    const second = added.find((each) => each.loops.length === 2 && each.length === length);
    return second === undefined
      ? []
      : [[`${length} µs`, interval(addedMicros), interval(second.addedMicros)]];
  });
  const shield = added.find(({ loops }) => loops.length === 2)?.loops[0];
  return table(['it runs for', 'alone, it adds', `after a loop of ${shield} µs, it adds`], rows);
}

function interval({ value, low, high }: Interval): string {
  return `${micros(value)} [${micros(low)}, ${micros(high)}] µs`;
}

function micros(value: number): string {
  return value.toFixed(2);
}
