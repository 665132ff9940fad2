// `npm run bench -- ci-compared [--minutes 30] [--seconds 60] [--json FILE]`: the same planted changes, of 0, 3, 5 and 10 % more CPU
// per request, judged by `redline ci`, by the rule of github-action-benchmark (one value of each commit) and by what a simulated
// processor counts, which is CodSpeed's approach. How often is a build red without a reason, and how often green in spite of one?
// Runs are made one by one, in turns, and added to the file.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type BenchResult, isMeasured } from '@redline/lab';
import { freePort } from '@redline/services';
import { changes, type ComparedRun, judgeAll } from '../ci-rules.ts';
import { writeSummary } from '../draws.ts';
import { plantedRepository, twinApp } from '../planted.ts';
import { hasValgrind, simulate } from '../simulated.ts';
import { spin } from './spin.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    /** Of each run of `redline ci`. */
    seconds: { type: 'string', default: '60' },
    /** Of the load that yields one value, without its warm-up. */
    'value-seconds': { type: 'string', default: '10' },
    /** Requests of which a simulated processor counts the events. */
    requests: { type: 'string', default: '300' },
    runs: { type: 'string' },
    json: { type: 'string', default: 'redline-out/ci-compared.json' },
  },
});

interface CiCompared {
  schema: 1;
  proof: 'ci-compared';
  machine: object;
  summary: ReturnType<typeof judgeAll>;
  runs: ComparedRun[];
}

/** Assumed seconds of a run before the first one. */
const firstGuess = 2 * Number(values.seconds) + 60;
const spunTurns = 20_000_000;

const file = resolve(values.json);
const proof: CiCompared = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as CiCompared)
  : { schema: 1, proof: 'ci-compared', machine: {}, summary: judgeAll([]), runs: [] };
const endsAt = Date.now() + Number(values.minutes) * 60_000;
const most = Number(values.runs ?? Infinity);
const folder = mkdtempSync(join(tmpdir(), 'redline-ci-compared-'));
try {
  const repositories = changes.map((change) =>
    plantedRepository(join(folder, String(change)), change),
  );
  for (let made = 0; made < most; made++) {
    const { seconds } = proof.runs.at(-1) ?? { seconds: firstGuess };
    if (made > 0 && Date.now() + seconds * 1_000 > endsAt) break;
    const at = proof.runs.length % changes.length;
    proof.runs.push(await runOnce(changes[at]!, repositories[at]!));
    proof.summary = judgeAll(proof.runs);
    writeSummary(file, proof);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function runOnce(change: number, cwd: string): Promise<ComparedRun> {
  const startedAt = new Date();
  const { ci, cpuMicros } = runCi(cwd);
  // As two builds do: first the base, which is then the last value.
  const single = { base: await valueOf(cwd, 0), present: await valueOf(cwd, change) };
  return {
    change,
    startedAt: startedAt.toISOString(),
    ci,
    single,
    simulated: hasValgrind() ? await simulateBoth(cwd, change * cpuMicros) : null,
    seconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
  };
}

function runCi(cwd: string): { ci: ComparedRun['ci']; cpuMicros: number } {
  const json = join(folder, 'run.json');
  rmSync(json, { force: true });
  const target = ['http://127.0.0.1:3000/items', '--base', 'HEAD~1', '--seconds', values.seconds];
  const files = ['--json', json, '--out', join(folder, 'out')];
  spawnSync('redline', ['ci', ...target, ...files, '--', 'node', twinApp], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { machine, precision, limit, variants } = JSON.parse(
    readFileSync(json, 'utf8'),
  ) as BenchResult;
  const [judged] = limit!.variants;
  const [base] = variants;
  if (judged === undefined || base === undefined || !isMeasured(base)) {
    throw new Error('redline ci has measured nothing.');
  }
  proof.machine = machine;
  const { more } = judged;
  const ci = { restarts: precision.restarts, more, noise: limit!.noise ?? null };
  return { ci, cpuMicros: base.cpuMicrosPerRequest };
}

/** Returns the requests per second of one start, as a benchmark in a build does. */
async function valueOf(cwd: string, change: number): Promise<number> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), HOST: '127.0.0.1', SLOWER: String(change) };
  const child = spawn(process.execPath, [twinApp], { cwd, env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/items`;
  const load = (seconds: string): string =>
    execFileSync('wrk', ['-t1', '-c64', `-d${seconds}s`, url], { encoding: 'utf8' });
  try {
    while (
      !(await fetch(url).then(
        (response) => response.ok,
        () => false,
      ))
    ) {
      if (child.exitCode !== null) throw new Error(`${twinApp} did not start.`);
      await sleep(50);
    }
    load('2');
    return Number(/Requests\/sec:\s*([\d.]+)/.exec(load(values['value-seconds']))![1]);
  } finally {
    child.kill();
    await ended;
  }
}

/** Both with a fixed number of turns; those of the change take as long as planted, on the real processor. */
async function simulateBoth(cwd: string, micros: number): Promise<ComparedRun['simulated']> {
  const count = (turns: number) =>
    simulate(join(cwd, twinApp), { SLOWER: '0', TURNS: String(turns) }, Number(values.requests));
  return { base: await count(0), present: await count(Math.round(micros / microsPerTurn())) };
}

/** Takes the fastest of some loops. */
function microsPerTurn(): number {
  const times = Array.from({ length: 5 }, (_, value) => {
    const begun = performance.now();
    spin(spunTurns, value);
    return performance.now() - begun;
  });
  return (Math.min(...times) * 1_000) / spunTurns;
}
