// `npm run bench -- ci-verdicts`: real runs of `redline ci`, made one by one and all kept, with another process on the
// machine that takes 30 % of a core: of a commit that changes nothing, and of one that makes a server 5 % slower. How often
// is the build red? A run takes five minutes, or --seconds; --minutes bounds the total, and runs are added to the file, so
// that a record can grow over days.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type BenchResult, isMeasured } from '@redline/lab';
import { writeSummary } from '../draws.ts';
import { OtherLoad } from '../other-load.ts';
import { plantedRepository } from '../planted.ts';

const { values } = parseArgs({
  options: {
    same: { type: 'string', default: '10' },
    slower: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '110' },
    seconds: { type: 'string', default: '270' },
    load: { type: 'string', default: '0.3' },
    json: { type: 'string', default: 'redline-out/ci-verdicts.json' },
  },
});

type Kind = 'same' | 'slower';

interface Run {
  kind: Kind;
  startedAt: string;
  seconds: number;
  /** Share of a core requested by the other process. */
  otherLoad: number;
  loadBefore: number;
  restarts: number;
  isRed: boolean;
  word: string;
  /** More CPU than the base, as fractions. */
  more: { value: number; low: number; high: number };
  /** Max deviation of the base from itself; null if it was not measured twice. */
  noise: number | null;
}

export interface CiVerdicts {
  schema: 1;
  proof: 'ci-verdicts';
  machine: object;
  summary: Record<Kind, { runs: number; red: number; words: Record<string, number> }>;
  runs: Run[];
}

const file = resolve(values.json);
const proof: CiVerdicts = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as CiVerdicts)
  : { schema: 1, proof: 'ci-verdicts', machine: {}, summary: summaryOf([]), runs: [] };
const endsAt = Date.now() + Number(values.minutes) * 60_000;
const folder = mkdtempSync(join(tmpdir(), 'redline-ci-verdicts-'));
const load = Number(values.load);
await using _other = load > 0 ? await OtherLoad.start(load) : undefined;
try {
  const repositories = {
    same: plantedRepository(join(folder, 'same'), 0),
    slower: plantedRepository(join(folder, 'slower'), 0.05),
  };
  for (const kind of inTurns(Number(values.same), Number(values.slower))) {
    const { seconds = Number(values.seconds) * 1.2 } = proof.runs.at(-1) ?? {};
    if (Date.now() + seconds * 1_000 > endsAt) break;
    const run = runOnce(kind, repositories[kind]);
    proof.runs.push(run);
    proof.summary = summaryOf(proof.runs);
    writeSummary(file, proof);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Alternates the kinds, so that changes of the machine over an hour affect both. */
function inTurns(same: number, slower: number): Kind[] {
  const most = Math.max(same, slower);
  return Array.from({ length: most }, (_, at): Kind[] => [
    ...(at < same ? (['same'] as const) : []),
    ...(at < slower ? (['slower'] as const) : []),
  ]).flat();
}

function runOnce(kind: Kind, cwd: string): Run {
  const loadBefore = loadavg()[0]!;
  const json = join(folder, 'run.json');
  rmSync(json, { force: true });
  const target = ['http://127.0.0.1:3000/items', '--base', 'HEAD~1', '--seconds', values.seconds];
  const files = ['--json', json, '--out', join(folder, 'out')];
  const { status } = spawnSync(
    'redline',
    ['ci', ...target, ...files, '--', 'node', 'twin-app.mjs'],
    {
      cwd,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const { machine, startedAt, durationSeconds, precision, limit, variants } = JSON.parse(
    readFileSync(json, 'utf8'),
  ) as BenchResult;
  const [judged] = limit!.variants;
  if (judged === undefined || !variants.every(isMeasured)) throw new Error('Nothing was measured.');
  proof.machine = machine;
  return {
    kind,
    startedAt,
    seconds: durationSeconds,
    otherLoad: load,
    loadBefore,
    restarts: precision.restarts,
    isRed: status !== 0,
    word: judged.word,
    more: judged.more,
    noise: limit!.noise ?? null,
  };
}

function summaryOf(runs: readonly Run[]): CiVerdicts['summary'] {
  const of = (kind: Kind) => {
    const own = runs.filter((run) => run.kind === kind);
    const words: Record<string, number> = {};
    for (const { word } of own) words[word] = (words[word] ?? 0) + 1;
    return { runs: own.length, red: own.filter(({ isRed }) => isRed).length, words };
  };
  return { same: of('same'), slower: of('slower') };
}
