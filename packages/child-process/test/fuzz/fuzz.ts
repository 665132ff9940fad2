// `npm run test:fuzz:child-process -- [--seconds N] [--programs N] [--first N | --seed N] [--shrink SECONDS]`: small random programs on
// node:child_process and on the engine. What the engine does must be something that Node does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { count, foreign } from './compare.ts';
import { confirm, type Difference, type Engines, type Patience } from './confirm.ts';
import { generate, type Program } from './program.ts';
import { record } from './record.ts';
import { shrink } from './shrink.ts';

const BATCH = 8;
const AT_ONCE = 2;
const SHRINK_MS = 180_000;
/** A smaller program is an aid for the reader: a few recordings are enough to prefer it. */
const SHRINK_PATIENCE: Patience = { enough: 3, most: 9 };
const NOTHING = { node: [], redline: [] };

export const engines: Engines = {
  node: 'node:child_process',
  redline: join(import.meta.dirname, '../../src/index.ts'),
};

export interface Result {
  readonly count: number;
  readonly differences: readonly Difference[];
  /** Seeds whose programs did something once or twice on the engine that Node never did. */
  readonly rare: readonly number[];
  /** Seeds whose programs the machine was too slow for. */
  readonly unknown: readonly number[];
}

export interface Options {
  readonly engines?: Engines;
  /** @default no more programs than there are seeds */
  readonly enough?: () => boolean;
  /** How long to look for a smaller program that differs. @default 180_000 */
  readonly shrinkMs?: number;
  readonly onFound?: (difference: Difference) => void;
  /** Called with each smaller program that differs. */
  readonly onSmaller?: (difference: Difference) => void;
}

/** Compares the programs of seed after seed. */
export async function fuzz(seeds: Iterable<number>, options: Options = {}): Promise<Result> {
  const { enough = () => false, shrinkMs = SHRINK_MS, onFound, onSmaller } = options;
  const both = options.engines ?? engines;
  const folder = mkdtempSync(join(tmpdir(), 'redline-fuzz-'));
  const result = { count: 0, differences: [] as Difference[], rare: [] as number[] };
  const unknown: number[] = [];
  const iterator = seeds[Symbol.iterator]();
  const line = async (): Promise<void> => {
    while (!enough()) {
      const batch = take(iterator);
      if (batch.length === 0) return;
      const [node, redline] = await Promise.all([
        record(both.node, batch, folder),
        record(both.redline, batch, folder),
      ]);
      result.count += batch.length;
      for (const program of batch) {
        const seen = {
          node: [node.get(program.seed) ?? []].flat(),
          redline: [redline.get(program.seed) ?? []].flat(),
        };
        const isComplete = seen.node.length > 0 && seen.redline.length > 0;
        if (isComplete && foreign(seen.node, seen.redline).length === 0) continue;
        const verdict = await confirm(program, both, folder, seen);
        if (verdict === 'rare') result.rare.push(program.seed);
        else if (verdict === 'unknown') unknown.push(program.seed);
        else if (verdict !== 'same') {
          onFound?.(verdict);
          const end = performance.now() + shrinkMs;
          const isLate = () => performance.now() > end;
          const patience = { ...SHRINK_PATIENCE, isLate };
          const check = (less: Program) => confirm(less, both, folder, NOTHING, patience);
          result.differences.push(await shrink(verdict, { check, isLate, onSmaller }));
        }
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { ...result, unknown };
}

/** Programs that run one after the other. */
function take(seeds: Iterator<number>): Program[] {
  const batch: Program[] = [];
  while (batch.length < BATCH) {
    const { value, done } = seeds.next();
    if (done) break;
    batch.push(generate(value));
  }
  return batch;
}

function* from(first: number, limit: number): Generator<number> {
  for (let seed = first; seed < first + limit; seed++) yield seed;
}

/** Printed at once: a run may be cut off before its end. */
function announce(difference: Difference): void {
  console.log(`seed ${difference.program.seed} differs; making it smaller. The program as it is:`);
  show(difference);
}

function showSmaller({ program: { seed, children } }: Difference): void {
  console.log(`seed ${seed}, smaller: ${JSON.stringify(children)}`);
}

function show({ program, found, node, redline }: Difference): void {
  console.log(JSON.stringify(program.children, null, 1));
  for (const list of new Set(found.map((one) => one.list))) {
    for (const [engine, recordings] of Object.entries({ node, redline })) {
      for (const [outcome, times] of count(list, recordings)) {
        console.log(`"${list}", ${engine}, ${times} of ${recordings.length}: ${outcome}`);
      }
    }
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      /** At most so many. */
      programs: { type: 'string', default: 'Infinity' },
      /** Where seeds begin, otherwise anywhere. */
      first: { type: 'string', default: String(Math.trunc(Math.random() * 2 ** 31)) },
      /** One program again. */
      seed: { type: 'string' },
      /** How many seconds to make a program that differs smaller. */
      shrink: { type: 'string', default: String(SHRINK_MS / 1000) },
    },
  });
  const end = performance.now() + Number(values.seconds) * 1000;
  const first = Number(values.first);
  const shrinkMs = Number(values.shrink) * 1000;
  const shown = { shrinkMs, onFound: announce, onSmaller: showSmaller };
  const result =
    values.seed === undefined
      ? await fuzz(from(first, Number(values.programs)), {
          ...shown,
          enough: () => performance.now() > end,
        })
      : await fuzz([Number(values.seed)], shown);
  for (const difference of result.differences) {
    const { seed } = difference.program;
    console.log(`\nseed ${seed} (--seed ${seed} runs it again), smallest program:`);
    show(difference);
  }
  const { rare, unknown, differences } = result;
  if (rare.length > 0) console.log(`rarely unlike Node, not counted: seeds ${rare.join(', ')}`);
  if (unknown.length > 0) console.log(`cut off, not counted: seeds ${unknown.join(', ')}`);
  const what = values.seed ?? `${first} to ${first + result.count - 1}`;
  console.log(
    `${result.count} programs, seeds ${what}: ${differences.length} differences, ` +
      `${rare.length} rare, ${unknown.length} cut off`,
  );
  if (differences.length > 0) process.exitCode = 1;
}
