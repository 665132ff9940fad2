// A ratio of two servers depends on the processor: benchmarks/results/NAME/ has a run per model, in a file named after it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchResult, Interval, MeasuredVariant } from '@redline/lab';
import { ratioText } from './format.ts';

const results = join(import.meta.dirname, '../results');

/** Reads the runs in the order of the file names; empty if the scenario was not measured. */
export function runsOf(name: string): BenchResult[] {
  const folder = join(results, name);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).toSorted();
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
}

/** Shortens the model: `Intel(R) Xeon(R) Processor` is `Intel Xeon`. */
export function modelOf({ machine: { cpuModel } }: BenchResult): string {
  return cpuModel.replaceAll(/\((?:R|TM)\)/g, '').replace(/ Processor$/, '');
}

/** Returns the name of a result's file within its folder, without its ending. */
export function fileOf(run: BenchResult): string {
  return modelOf(run).toLowerCase().replaceAll(/\W+/g, '-');
}

/** A ratio on one processor model. */
export interface OnModel {
  model: string;
  ratio: Interval;
}

/** Returns the same ratio on each model, in ascending order. */
export function byModel(
  runs: readonly BenchResult[],
  ratioOf: (run: BenchResult) => Interval | undefined,
): OnModel[] {
  return runs
    .flatMap((run) => {
      const ratio = ratioOf(run);
      return ratio === undefined ? [] : [{ model: modelOf(run), ratio }];
    })
    .toSorted((a, b) => a.ratio.value - b.ratio.value);
}

/** Returns `1.79 × on A to 3.42 × on B`. */
export function rangeText(found: readonly OnModel[]): string {
  if (found.length === 0) return '–';
  return [found[0]!, ...found.slice(1).slice(-1)]
    .map(
      ({ model, ratio }) =>
        `${ratioText({ ...ratio, low: ratio.value, high: ratio.value })} on ${model}`,
    )
    .join(' to ');
}

/** Formats CPU as a multiple of the floor; older runs have no floor. */
export function floorText(variant: MeasuredVariant | undefined): string {
  return ratioText(variant?.floorRatio);
}

/** The reason for the differences between models, below the tables. */
export const floorWords = [
  'The *floor* of a machine is a native loop of epoll, one read and one write that sends the same bytes over the same',
  'connections: the share of a request that is the kernel’s, and that no server with these system calls can avoid. It decides the',
  'ratio: where JavaScript is slow beside system calls the engine gains more, where both are fast it is closer to its limit. It is',
  'measured in the same run; earlier runs have none. As the load does not fill its core, it wakes more often for fewer requests, and',
  'takes more for each than it would at its limit: a multiple of it is a lower bound.',
].join('\n');
