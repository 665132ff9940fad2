// `npm run bench -- stairs-async`: is a cost found in the stage it was put into, where requests wait in between?
// Runs `redline stairs` on an Express app and a Nest app that keep their users and orders behind a pool. In every run 20, 50
// and 200 µs are put into three of five places: a middleware, a guard behind an `await`, a handler behind an `await`, a
// function that asks the database, a serializer. The apps cost something by themselves, so a run without any comes first.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    app: { type: 'string', multiple: true, default: ['express', 'nest'] },
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '15' },
    /** The runs of an app take the place of those that are there. */
    json: { type: 'string', default: 'redline-out/stairs-async.json' },
  },
});

const amounts = [20, 50, 200];
const places: Record<string, Record<string, RegExp>> = {
  express: {
    middleware: /^tagRequest$/,
    guard: /^requireUser after await/,
    handler: /^getOrders after await/,
    database: /^findOrders$/,
    serializer: /^serialize$/,
  },
  nest: {
    middleware: /^tagRequest$/,
    guard: /^SignedIn\.canActivate after await/,
    handler: /^OrderController\.getOrders after await/,
    database: /^selectOrders$/,
    serializer: /^serialize$/,
  },
};
/** Half of the least that is put in: a stage that rises by more without it is blamed falsely. */
const falseMicros = 10;
/** A loop of 200 µs costs the rest of the request more than it lasts: what comes behind it finds less in the caches. */
const tolerance = 0.15;

interface Stage {
  name: string;
  micros: { value: number; low: number; high: number };
  verdict: string;
}

interface Run {
  app: string;
  injected: Record<string, number>;
  stages: Stage[];
  leftOut: string[];
  /** What each place rose by, in µs. Absent in the run without any. */
  found?: Record<string, { put: number; rose: number; isRight: boolean; isSaid: boolean }>;
  blamed?: string[];
}

interface Proof {
  schema: 1;
  proof: 'stairs-async';
  machine: object;
  summary: object;
  runs: Run[];
}

const proof: Proof = existsSync(values.json)
  ? (JSON.parse(readFileSync(values.json, 'utf8')) as Proof)
  : { schema: 1, proof: 'stairs-async', machine: {}, summary: {}, runs: [] };
const folder = mkdtempSync(join(tmpdir(), 'redline-async-'));
try {
  for (const app of values.app) {
    proof.runs = proof.runs.filter((run) => run.app !== app);
    const base = measure(app, {});
    proof.runs.push(base);
    for (let count = 0; count < Number(values.runs); count++) {
      const run = judged(measure(app, injection(app, count)), base);
      proof.runs.push(run);
      proof.summary = summary();
      save();
      process.stdout.write(`${app} ${count + 1}: ${describe(run)}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${JSON.stringify(proof.summary, undefined, 2)}\n`);

function injection(app: string, count: number): Record<string, number> {
  const names = Object.keys(places[app]!);
  return Object.fromEntries(
    amounts.map((micros, at) => [names[(count + at * 2) % names.length]!, micros]),
  );
}

function measure(app: string, injected: Record<string, number>): Run {
  const file = join(folder, 'run.json');
  // prettier-ignore
  execFileSync(
    'redline',
    ['stairs', 'http://127.0.0.1:21312/orders', '--seconds', values.seconds, '--max-stages', '40', '--json', file,
      '--out', folder, '--', 'node', join(import.meta.dirname, `async-${app}-app.mjs`)],
    { env: { ...process.env, SPIN: JSON.stringify(injected) }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const result = JSON.parse(readFileSync(file, 'utf8')) as Pick<Run, 'stages'> & {
    machine: object;
    leftOut: { name: string }[];
  };
  proof.machine = result.machine;
  return {
    app,
    injected,
    stages: result.stages.map(({ name, micros, verdict }) => ({ name, micros, verdict })),
    leftOut: result.leftOut.map(({ name }) => name),
  };
}

function judged(run: Run, base: Run): Run {
  const riseOf = ({ name, micros }: Stage): { rose: number; half: number } => {
    const before = base.stages.find((stage) => stage.name === name)?.micros ?? micros;
    const half = Math.hypot((micros.high - micros.low) / 2, (before.high - before.low) / 2);
    return { rose: micros.value - before.value, half };
  };
  const found: Run['found'] = {};
  const own = new Set<string>();
  for (const [place, put] of Object.entries(run.injected)) {
    const stage = run.stages.find(({ name }) => places[run.app]![place]!.test(name));
    if (stage) own.add(stage.name);
    const { rose, half } = stage ? riseOf(stage) : { rose: 0, half: 0 };
    const isRight = rose > put / 2 && Math.abs(rose - put) <= Math.max(half, tolerance * put);
    found[place] = { put, rose, isRight, isSaid: stage?.verdict === 'changed' };
  }
  const blamed = run.stages
    .filter((stage) => {
      const { rose, half } = riseOf(stage);
      return !own.has(stage.name) && rose - half > 0 && rose > falseMicros;
    })
    .map(({ name }) => name);
  return { ...run, found, blamed };
}

function describe({ found, blamed }: Run): string {
  const each = Object.entries(found!).map(
    ([place, { put, rose, isRight }]) =>
      `${put} µs in ${place}: ${rose.toFixed(1)}${isRight ? '' : ' (not right)'}`,
  );
  return `${each.join('; ')}; falsely blamed: ${blamed!.join(', ') || 'none'}`;
}

function summary(): object {
  const counts = Object.keys(places).map((app) => {
    const runs = proof.runs.filter((run) => run.app === app && run.found);
    const all = runs.flatMap(({ found }) => Object.values(found!));
    return [
      app,
      {
        injections: all.length,
        saidToCost: all.filter(({ isSaid }) => isSaid).length,
        inTheRightStage: all.filter(({ isRight }) => isRight).length,
        read: Object.fromEntries(
          amounts.map((amount) => {
            const rises = all.filter(({ put }) => put === amount).map(({ rose }) => rose);
            return [`${amount} µs`, [Math.min(...rises), Math.max(...rises)]];
          }),
        ),
        otherStages: runs.reduce((sum, { stages }) => sum + stages.length - amounts.length, 0),
        falselyBlamed: runs.flatMap(({ blamed }) => blamed!).length,
      },
    ];
  });
  return Object.fromEntries(counts) as object;
}

function save(): void {
  mkdirSync(dirname(values.json), { recursive: true });
  writeFileSync(values.json, `${JSON.stringify(proof, undefined, 2)}\n`);
}
