// `npm run bench -- stairs-async`: is a cost found in the stage it was put into, if requests wait in between? Runs
// `redline stairs` on an Express app and a Nest app that access their users and orders through a pool. In every run 20, 50
// and 200 µs are put into three of five places: a middleware, a guard after an `await`, a handler after an `await`, a
// function that queries the database, a serializer. The apps have costs of their own, and the machine's speed varies: a run
// without added costs comes before and after each. `--app express-sequelize --app nest-typeorm`: the same two with an ORM on
// a private PostgreSQL. A record continues where it ended; `--minutes 20` makes as many runs as fit. Runs with more
// measuring time (`--seconds 60`) are counted separately.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import {
  describe,
  injection,
  judged,
  measuringSecondsOf,
  type Run,
  summaryOf,
} from '../added-costs.ts';
import { asyncApps, prepareOrms } from '../async-apps.ts';
import { requireApps } from '../require-apps.ts';
import { writeResult } from '../write-result.ts';

const { values } = parseArgs({
  options: {
    app: { type: 'string', multiple: true, default: ['express', 'nest'] },
    /** Runs with added costs, per app. */
    runs: { type: 'string', default: '5' },
    /** Time limit: no run begins that would not end by then. */
    minutes: { type: 'string', default: 'Infinity' },
    /** Measuring time of each run. */
    seconds: { type: 'string', default: '15' },
    json: { type: 'string', default: 'redline-out/stairs-async.json' },
  },
});

interface Proof {
  schema: 1;
  proof: 'stairs-async';
  machine: object;
  summary: object;
  runs: Run[];
}

requireApps(values.app, asyncApps);
const proof: Proof = existsSync(values.json)
  ? (JSON.parse(readFileSync(values.json, 'utf8')) as Proof)
  : { schema: 1, proof: 'stairs-async', machine: {}, summary: {}, runs: [] };
const folder = mkdtempSync(join(tmpdir(), 'redline-async-'));
const seconds = Number(values.seconds);
const until = performance.now() + Number(values.minutes) * 60_000;
/** Bases of this process only: one of another day does not show the machine's present speed. */
const lastBase = new Map<string, Run>();
const needsPostgres = values.app.some((name) => asyncApps[name]!.needsPostgres);
const orms = needsPostgres ? await prepareOrms() : { env: {}, stop: () => Promise.resolve() };
try {
  const apps = values.app.filter((name) => !('skip' in orms && asyncApps[name]!.needsPostgres));
  if ('skip' in orms) process.stdout.write(`The apps with an ORM are skipped: ${orms.skip}\n`);
  // The apps take turns, so that a record that is cut short covers them equally.
  for (let made = 0; made < Number(values.runs); made++) {
    for (const app of apps) if (injectedIn(app) <= made && hasTime(app)) addRun(app);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
  if (!('skip' in orms)) await orms.stop();
}
process.stdout.write(`${JSON.stringify(proof.summary, undefined, 2)}\n`);

function runsOf(name: string): Run[] {
  return proof.runs.filter((run) => run.app === name && measuringSecondsOf(run) === seconds);
}

function injectedIn(app: string): number {
  return runsOf(app).filter(({ found }) => found).length;
}

/** Returns true if there is time for a run with added costs and its bases. */
function hasTime(app: string): boolean {
  const longest = Math.max(0, ...runsOf(app).map((run) => run.seconds ?? 0));
  const runs = lastBase.has(app) ? 2 : 3;
  return performance.now() + runs * longest * 1_000 < until;
}

/** Makes a run with added costs, between two without. */
function addRun(app: string): void {
  const { places } = asyncApps[app]!;
  const count = injectedIn(app);
  const before = lastBase.get(app) ?? keep(measure(app, {}));
  const injected = measure(app, injection(Object.keys(places), count));
  const after = measure(app, {});
  const run = keep(judged(injected, [before, after], places));
  lastBase.set(app, keep(after));
  process.stdout.write(`${app} ${count + 1}: ${describe(run)}\n`);
}

function keep(run: Run): Run {
  proof.runs.push(run);
  proof.summary = summaryOf(proof.runs);
  save();
  return run;
}

function measure(app: string, injected: Record<string, number>): Run {
  const file = join(folder, 'run.json');
  const [startedAt, loadBefore, begun] = [new Date(), loadavg()[0]!, performance.now()];
  // prettier-ignore
  execFileSync(
    'redline',
    ['stairs', 'http://127.0.0.1:21312/orders', '--seconds', values.seconds, '--max-stages', '40', '--json', file,
      '--out', folder, '--', 'node', relative('.', asyncApps[app]!.file)],
    {
      env: { ...process.env, ...('env' in orms ? orms.env : {}), SPIN: JSON.stringify(injected) },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const result = JSON.parse(readFileSync(file, 'utf8')) as Pick<Run, 'stages'> & {
    machine: object;
    leftOut: { name: string }[];
  };
  proof.machine = result.machine;
  return {
    app,
    startedAt: startedAt.toISOString(),
    measuringSeconds: seconds,
    seconds: Math.round((performance.now() - begun) / 1_000),
    loadBefore,
    injected,
    stages: result.stages.map(({ name, micros, verdict }) => ({ name, micros, verdict })),
    leftOut: result.leftOut.map(({ name }) => name),
  };
}

function save(): void {
  writeResult(values.json, proof);
}
