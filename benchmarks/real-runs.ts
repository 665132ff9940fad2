// Shared by the proofs that repeat real runs: runs are made one by one, each with the same other load, and all are kept,
// including failed ones. A record can grow over days, in pieces of some minutes.
import { execFileSync, type SpawnSyncReturns } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchResult } from '@redline/lab';
import { writeSummary } from './draws.ts';
import { OtherLoad } from './other-load.ts';

export interface RealRun {
  startedAt: string;
  /** A record that grows over days may come from several machines. */
  cpuModel?: string;
  isQuick: boolean;
  seconds: number;
  /** The system's load average of the last minute: processes that wanted a core. */
  loadBefore: number;
  /** Share of a core requested for other load, and the share it had. */
  otherLoad: { asked: number; had: number };
  /** Reason for a failure; undefined if the run has a result. */
  failure?: string;
}

interface RealRecord<Run extends RealRun> {
  schema: 1;
  proof: string;
  machine: object;
  summary: object;
  runs: Run[];
}

export interface RealProof<Run extends RealRun> {
  name: string;
  /** Returns the next arguments of `redline`, without its output file. */
  next(runs: readonly Run[]): { args: string[]; run: Partial<Run> };
  /** Returns the stored parts of a result. */
  read(result: BenchResult): Partial<Run>;
  summary(runs: readonly Run[]): object;
}

/** Assumed seconds of a run before the first one. */
const firstGuess = 200;
/** Exit status of a run that was interrupted. */
const interrupted = 130;

const realOptions = {
  /** Max number of runs; otherwise as many as fit. */
  runs: { type: 'string' },
  /** Time limit: no run begins that would not end by then, except for the first. */
  minutes: { type: 'string' },
  /** Share of a core that another process takes meanwhile. */
  load: { type: 'string', default: '0' },
  quick: { type: 'boolean', default: false },
  json: { type: 'string' },
} as const;

/** Makes the requested number of runs, or as many as fit, and adds each to the record. */
export async function recordRuns<Run extends RealRun>(proof: RealProof<Run>): Promise<void> {
  const { values } = parseArgs({ options: realOptions });
  const file = values.json ?? `redline-out/${proof.name}.json`;
  const record = readRecord<Run>(file, proof.name);
  const most = Number(values.runs ?? (values.minutes === undefined ? 1 : Infinity));
  const until = performance.now() + Number(values.minutes ?? Infinity) * 60_000;
  // The summary's rules may have changed since the last run; `--runs 0` only rewrites it.
  if (record.runs.length > 0) writeRecord();
  for (let made = 0; made < most; made++) {
    const longest = Math.max(...record.runs.map(({ seconds }) => seconds), firstGuess);
    if (made > 0 && performance.now() + 1_000 * longest > until) return;
    const { args, run } = proof.next(record.runs);
    const output = join('redline-out', proof.name, `run-${record.runs.length + 1}.json`);
    const quick = values.quick ? ['--quick'] : [];
    const { result, ...facts } = await makeRun([...args, ...quick], output, Number(values.load));
    if (result) record.machine = result.machine;
    const conditions = { cpuModel: result?.machine.cpuModel, isQuick: values.quick };
    record.runs.push({ ...facts, ...conditions, ...run, ...(result && proof.read(result)) } as Run);
    writeRecord();
  }

  function writeRecord(): void {
    record.summary = proof.summary(record.runs);
    writeSummary(file, record);
  }
}

async function makeRun(
  args: readonly string[],
  output: string,
  share: number,
): Promise<Omit<RealRun, 'isQuick' | 'cpuModel'> & { result?: BenchResult }> {
  const [startedAt, loadBefore, begun] = [new Date(), loadavg()[0]!, performance.now()];
  mkdirSync(dirname(output), { recursive: true });
  rmSync(output, { force: true });
  await using other = share > 0 ? await OtherLoad.start(share) : undefined;
  let failure: string | undefined;
  try {
    execFileSync('redline', [...args, '--json', output], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    const { signal, status, stderr } = error as SpawnSyncReturns<Buffer>;
    // The user has interrupted the run.
    if (signal !== null || status === interrupted) throw error;
    failure = stderr.toString().trim().split('\n').at(-1) ?? '';
  }
  return {
    startedAt: startedAt.toISOString(),
    seconds: Math.round((performance.now() - begun) / 1_000),
    loadBefore,
    otherLoad: { asked: share, had: (await other?.share()) ?? 0 },
    ...(failure === undefined ? { result: readJson<BenchResult>(output) } : { failure }),
  };
}

function readRecord<Run extends RealRun>(file: string, proof: string): RealRecord<Run> {
  return existsSync(file)
    ? readJson<RealRecord<Run>>(file)
    : { schema: 1, proof, machine: {}, summary: {}, runs: [] };
}

function readJson<Value>(file: string): Value {
  return JSON.parse(readFileSync(file, 'utf8')) as Value;
}

/** Groups runs with the same conditions, under a name that describes them. */
export function byConditions<Run extends RealRun>(runs: readonly Run[]): Map<string, Run[]> {
  return Map.groupBy(
    runs,
    ({ isQuick, otherLoad: { asked } }) =>
      `${isQuick ? 'quick' : 'full'}, another process at ${asked * 100} % of a core`,
  );
}
