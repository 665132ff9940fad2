// `npm run zoo [-- NAME…]`: applications from npm, asked the same on Node and on the engine; see docs/guide/zoo.md.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeResult } from '../../benchmarks/write-result.ts';
import { apps } from './apps/index.ts';
import type { Job } from './inside.ts';
import { installGroup } from './install.ts';
import type { AppResult, Interrupts, ZooResult } from './zoo-result.ts';

const help = `npm run zoo -- [NAME…] [options]

  --list            list the apps and stop
  --quick           leave out redline try
  --ci              the eight of every CI run, with --quick
  --only-try        leave out the comparison
  --seconds N       time for each redline try (40)
  --restarts N      restarts of each redline try, instead of a time
  --quiet           nothing else runs on this machine: the figures may be quoted
  --interrupts N    stop redline try N times at a random moment instead
  --continue        leave out what FILE has already, but not a try that had less time, or was not quiet if this one is
  --minutes N       begin with no app after this time
  --at-once N       apps side by side (1; interrupted ones: 4)
  --seed N          repeat these moments
  --json FILE       merge the results into this file
`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    quick: { type: 'boolean' },
    ci: { type: 'boolean' },
    'only-try': { type: 'boolean' },
    seconds: { type: 'string', default: '40' },
    quiet: { type: 'boolean' },
    interrupts: { type: 'string' },
    restarts: { type: 'string' },
    'at-once': { type: 'string' },
    continue: { type: 'boolean' },
    minutes: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'string' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  process.stdout.write(help);
  process.exit();
}
const unknown = positionals.filter((name) => !apps.some((app) => app.name === name));
if (unknown.length > 0) {
  process.stderr.write(`Unknown app "${unknown[0]}". npm run zoo -- --list shows them.\n`);
  process.exit(2);
}
const named = apps.filter(({ name, isQuick }) =>
  positionals.length > 0 ? positionals.includes(name) : !values.ci || isQuick,
);
const isDone = ({ tried, failure, engine }: AppResult): boolean => {
  const isTried =
    tried !== undefined &&
    (tried.isQuiet || !values.quiet) &&
    tried.givenSeconds >= Number(values.seconds);
  const isAsked = failure === undefined && engine !== '';
  return (isTried || values.quick === true) && (isAsked || values['only-try'] === true);
};
const done =
  values.continue && values.interrupts === undefined
    ? kept()
        .apps.filter(isDone)
        .map(({ name }) => name)
    : [];
const chosen = named.filter(({ name }) => !done.includes(name));
const until = Date.now() + Number(values.minutes ?? Infinity) * 60_000;
if (values.list) {
  for (const { name, group, what } of chosen)
    console.log(`${name.padEnd(28)} ${group.padEnd(12)} ${what}`);
  process.exit();
}
/** The whole of a try is seldom longer; moments at its beginning are more frequent. */
const longestMs = 12_000;
const folder = mkdtempSync(join(tmpdir(), 'redline-zoo-results-'));
const isAlone = spawnSync('unshare', ['-n', 'ip', 'link', 'set', 'lo', 'up']).status === 0;
try {
  if (values.interrupts === undefined) await visitAll();
  else await interruptAll(Number(values.interrupts), Number(values.seed));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function visitAll(): Promise<void> {
  const trySize = {
    seconds: Number(values.seconds),
    ...(values.restarts !== undefined && { restarts: Number(values.restarts) }),
  };
  await sideBySide(chosen, Number(values['at-once'] ?? 1), async ({ name, group }) => {
    const startedAt = performance.now();
    const result = await inNamespace<AppResult>({
      name,
      modules: installGroup(group),
      file: join(folder, `${name}.json`),
      asks: !values['only-try'],
      isQuiet: values.quiet === true,
      ...(!values.quick && !values.ci && { trySize }),
    });
    if (result === undefined) {
      console.log(`${name}: no result`);
      process.exitCode = 1;
      return;
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0);
    console.log(`${name.padEnd(28)} ${seconds.padStart(4)} s  ${lineOf(result)}`);
    const isNative = values['only-try'] || result.engine === 'native';
    if (result.differences.length > 0 || result.failure !== undefined || !isNative) {
      process.exitCode = 1;
    }
    for (const { ask, part, node, engine } of result.differences) {
      console.log(`    ${ask}, ${part}:`);
      console.log(`      Node   ${JSON.stringify(node)}\n      engine ${JSON.stringify(engine)}`);
    }
    keep((before) => merge(before, result));
  });
}

async function sideBySide<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    while (left.length > 0 && Date.now() < until) await work(left.shift()!);
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  if (left.length > 0) console.log(`${left.length} are left: --continue goes on.`);
}

function lineOf({
  failure,
  differences,
  asked,
  succeeded,
  unsteady,
  engine,
  exits,
  tried,
}: AppResult): string {
  if (failure !== undefined) return `failed: ${failure}`;
  const parts =
    exits.length === 0
      ? []
      : [
          differences.length === 0
            ? `equal in ${asked}, ${succeeded} succeeded`
            : `${differences.length} differences`,
          `${unsteady} unsteady`,
          engine,
          ...exits,
        ];
  if (tried !== undefined) {
    const time = `${tried.seconds} s (${tried.tookSeconds ?? '-'} of ${tried.announcedSeconds ?? '-'} announced)`;
    parts.push(`try: ${tried.word}, ${tried.sentence}, ${time}, exit ${tried.exit}`);
    parts.push(...tried.left.map((each) => `LEFT ${each}`));
  }
  return parts.join('; ');
}

interface Trial {
  number: number;
  name: string;
  afterMs: number;
  toGroup: boolean;
}

/** Spread over the apps, each moment from the seed; some apps side by side, as nothing is measured. */
async function interruptAll(planned: number, seed: number): Promise<void> {
  const random = randomFrom(seed);
  const all = Array.from({ length: planned }, (_, number): Trial => ({
    number,
    name: apps[number % apps.length]!.name,
    afterMs: Math.floor(random() ** 2 * longestMs),
    toGroup: random() < 0.5,
  }));
  const { interrupts } = kept();
  const isSame = interrupts?.planned === planned && interrupts.seed === seed;
  const fresh: Interrupts = { planned, seed, done: [], left: [] };
  let known = values.continue && isSame ? interrupts : fresh;
  const trials = all.filter(
    ({ name, number }) => chosen.some((app) => app.name === name) && !known.done.includes(number),
  );
  const names = [...new Set(trials.map(({ name }) => name))];
  await sideBySide(names, Number(values['at-once'] ?? 4), async (name) => {
    const { group } = chosen.find((app) => app.name === name)!;
    const own = trials.filter((trial) => trial.name === name);
    const found = await inNamespace<string[]>({
      name,
      modules: installGroup(group),
      file: join(folder, `${name}.json`),
      asks: false,
      isQuiet: false,
      interrupts: own,
    });
    if (found === undefined) {
      console.log(`${name}: no result`);
      process.exitCode = 1;
      return;
    }
    console.log(`${name.padEnd(28)} ${own.length} trials, ${found.length} left something`);
    for (const line of found) console.log(`    ${line}`);
    const ended = [...known.done, ...own.map(({ number }) => number)].toSorted((a, b) => a - b);
    known = { ...known, done: ended, left: [...known.left, ...found] };
    keep((before) => ({ ...before, interrupts: known }));
  });
  console.log(
    `${known.done.length} of ${planned} trials with seed ${seed}: ${known.left.length} left something`,
  );
  if (known.left.length > 0) process.exitCode = 1;
}

/** Mulberry32: the same moments for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.trunc(state + 0x6d2b79f5);
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Where the system allows it, with a network of its own: nothing that the app opens is reachable from elsewhere. */
async function inNamespace<Result>(job: Job): Promise<Result | undefined> {
  rmSync(job.file, { force: true });
  const words = [process.execPath, join(import.meta.dirname, 'inside.ts'), JSON.stringify(job)];
  const alone = ['-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...words];
  const [program, args] = isAlone ? ['unshare', alone] : [words[0]!, words.slice(1)];
  await once(spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] }), 'exit');
  return existsSync(job.file) ? (JSON.parse(readFileSync(job.file, 'utf8')) as Result) : undefined;
}

function merge(before: ZooResult, result: AppResult): ZooResult {
  const own = before.apps.find(({ name }) => name === result.name);
  const asked = values['only-try'] && own !== undefined ? own : result;
  const tried = result.tried ?? own?.tried;
  const merged = { ...asked, ...(tried !== undefined && { tried }) };
  const others = before.apps.filter(({ name }) => name !== result.name);
  const order = apps.map(({ name }) => name);
  const all = [...others, merged]
    .filter(({ name }) => order.includes(name))
    .toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
  return { ...before, startedAt: new Date().toISOString(), apps: all };
}

function kept(): ZooResult {
  const [cpu, ...others] = cpus();
  const machine = {
    cpuModel: cpu!.model,
    cores: others.length + 1,
    kernel: release(),
    node: process.versions.node,
  };
  const none: ZooResult = { schema: 1, startedAt: '', machine, apps: [] };
  const file = values.json;
  if (file === undefined || !existsSync(file)) return none;
  return { ...(JSON.parse(readFileSync(file, 'utf8')) as ZooResult), machine };
}

function keep(change: (before: ZooResult) => ZooResult): void {
  if (values.json === undefined) return;
  writeResult(values.json, change(kept()));
}
