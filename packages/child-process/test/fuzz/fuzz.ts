// `npm run test:fuzz:child-process -- [--seconds N] [--seed N]`: small random programs on node:child_process and on the
// engine. What both do must be the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { generate, smaller, type Program } from './program.ts';

type Answers = Map<number, string>;

const BATCH = 8;
const AT_ONCE = 2;
/** How often a difference is looked at again: what Node itself answers in more than one way is no difference. */
const AGAIN = 6;
const BATCH_MS = 90_000;
const SHRINK_MS = 60_000;
const engines = {
  node: 'node:child_process',
  redline: join(import.meta.dirname, '../../src/index.ts'),
} as const;

/** A program that the engine answers in a way Node does not. */
export interface Difference {
  readonly program: Program;
  readonly node: readonly string[];
  readonly redline: readonly string[];
}

/** Compares seed after seed, from `from` on, until `enough` says so. */
export async function fuzz(
  seeds: Iterable<number>,
  enough: () => boolean,
  onFound: (difference: Difference) => void = () => {},
): Promise<{ count: number; differences: Difference[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-fuzz-'));
  const differences: Difference[] = [];
  let count = 0;
  const iterator = seeds[Symbol.iterator]();
  const line = async (): Promise<void> => {
    while (!enough()) {
      const batch = take(iterator);
      if (batch.length === 0) return;
      const [node, redline] = await Promise.all([
        answers('node', batch, folder),
        answers('redline', batch, folder),
      ]);
      count += batch.length;
      for (const program of batch) {
        if (node.get(program.seed) === redline.get(program.seed)) continue;
        const difference = await confirm(program, folder);
        if (!difference) continue;
        onFound(difference);
        const end = performance.now() + SHRINK_MS;
        differences.push(await shrink(difference, folder, () => performance.now() > end));
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, line));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { count, differences };
}

/** Programs for one process: one, if it runs alone. */
function take(seeds: Iterator<number>): Program[] {
  const batch: Program[] = [];
  while (batch.length < BATCH) {
    const { value, done } = seeds.next();
    if (done) break;
    batch.push(generate(value));
  }
  return batch;
}

async function answers(
  engine: keyof typeof engines,
  batch: readonly Program[],
  folder: string,
): Promise<Answers> {
  const together = batch.filter(({ isAlone }) => !isAlone);
  const groups = [together, ...batch.filter(({ isAlone }) => isAlone).map((one) => [one])];
  const found: Answers = new Map();
  for (const group of groups.filter(({ length }) => length > 0)) {
    for (const [seed, log] of await perform(engine, group, folder)) found.set(seed, log);
  }
  return found;
}

async function perform(
  engine: keyof typeof engines,
  programs: readonly Program[],
  folder: string,
): Promise<Answers> {
  const child = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, 'perform.ts'), engines[engine], folder],
    { stdio: ['pipe', 'pipe', 'inherit'], timeout: BATCH_MS, killSignal: 'SIGKILL' },
  );
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(programs));
  const exited = once(child, 'exit');
  const output = await text(child.stdout);
  await exited;
  return new Map(
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [seed, log] = JSON.parse(line) as [number, unknown];
        return [seed, JSON.stringify(log)];
      }),
  );
}

/** The difference, unless one engine's answers turn up among the other's when it is asked again. */
async function confirm(program: Program, folder: string): Promise<Difference | undefined> {
  const node = new Set<string>();
  const redline = new Set<string>();
  for (let round = 0; round < AGAIN; round++) {
    const [expected, actual] = await Promise.all([
      perform('node', [program], folder),
      perform('redline', [program], folder),
    ]);
    node.add(expected.get(program.seed) ?? 'no answer');
    redline.add(actual.get(program.seed) ?? 'no answer');
    if ([...node].some((answer) => redline.has(answer))) return undefined;
  }
  return { program, node: [...node], redline: [...redline] };
}

async function shrink(
  difference: Difference,
  folder: string,
  enough: () => boolean,
): Promise<Difference> {
  for (const program of smaller(difference.program)) {
    if (enough()) break;
    const again = await confirm(program, folder);
    if (again) return shrink(again, folder, enough);
  }
  return difference;
}

function* from(seed: number): Generator<number> {
  for (;;) yield seed++;
}

function tell({ program }: Difference): void {
  console.log(`seed ${program.seed} differs; making it smaller`);
}

function show({ program, node, redline }: Difference): void {
  console.log(`\nseed ${program.seed} (--seed ${program.seed} runs it again), smallest program:`);
  console.log(JSON.stringify(program.children, null, 1));
  for (const answer of node) console.log('node   ', answer);
  for (const answer of redline) console.log('redline', answer);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
  });
  const end = performance.now() + Number(values.seconds) * 1000;
  const first = Math.trunc(Math.random() * 2 ** 31);
  const { count, differences } =
    values.seed === undefined
      ? await fuzz(from(first), () => performance.now() > end, tell)
      : await fuzz([Number(values.seed)], () => false, tell);
  for (const difference of differences) show(difference);
  const what = values.seed ?? `${first} to ${first + count - 1}`;
  console.log(`${count} programs, seeds ${what}: ${differences.length} differences`);
  if (differences.length > 0) process.exitCode = 1;
}
