// `npm run bench -- doctor-prove`: does `redline doctor --prove` find and prove, unaided, the changes that made two apps of
// examples/ fast by hand? Each is copied out of the repository, installed as npm would, committed, and proved with its own
// tests. `--app legacy-http` proves one of them; `--each 40` is the time per change, in seconds.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { DoctorResult } from '@redline/lab';
import { startRedis } from '@redline/services';
import { copyExample } from '../../tests/copy-example.ts';
import { npmEnvironment, startRegistry } from '../../tests/loopback-registry.ts';
import { requireApps } from '../require-apps.ts';
import { writeSummary } from '../draws.ts';

interface ProvedApp {
  request: string;
  /** The file that Node starts. */
  entry: string;
  /** Command that builds a tree. */
  build?: string;
  /** Its tests compare the responses of these paths with those before any change. */
  paths: readonly string[];
  needsRedis: boolean;
}

const provedApps: Readonly<Record<string, ProvedApp>> = {
  'legacy-http': {
    request: '/shop/shoes/list',
    entry: 'src/00-original.js',
    paths: [
      '/',
      '/about/',
      '/nothing',
      '/shop/shoes/list?page=2&min=20&max=80&color=red,blue',
      ...[0, 5, 12.5, 33.3, 50, 99].map((discount) => `/shop/coats/list?discount=${discount}`),
      ...['shoes', 'hats', 'bags', 'tents', 'none'].map((category) => `/shop/${category}/list`),
      ...[1, 7, 799, 800, 801].map((id) => `/shop/shoes/item/${id}`),
    ],
    needsRedis: false,
  },
  'cached-api': {
    request: '/cached',
    entry: 'dist/00-express.js',
    build: 'npm run prestart',
    paths: ['/cached', '/uncached'],
    needsRedis: true,
  },
};

const { values } = parseArgs({
  options: {
    app: { type: 'string', multiple: true, default: Object.keys(provedApps) },
    each: { type: 'string', default: '40' },
    json: { type: 'string', default: 'redline-out/doctor-prove.json' },
  },
});

interface ProvedRun {
  app: string;
  startedAt: string;
  seconds: number;
  loadBefore: number;
  each: number;
  measured: DoctorResult['measured'];
  findings: Pick<
    DoctorResult['findings'][number],
    'rule' | 'file' | 'line' | 'sure' | 'cost' | 'proof'
  >[];
  together: DoctorResult['together'];
  warnings: string[];
}

export interface DoctorProve {
  schema: 1;
  proof: 'doctor-prove';
  machine: object;
  summary: Record<string, { findings: number; proved: number; together: number | null }>;
  runs: ProvedRun[];
}

requireApps(values.app, provedApps);
const record: DoctorProve = existsSync(values.json)
  ? (JSON.parse(readFileSync(values.json, 'utf8')) as DoctorProve)
  : { schema: 1, proof: 'doctor-prove', machine: {}, summary: {}, runs: [] };
const folder = mkdtempSync(join(tmpdir(), 'redline-doctor-'));
const registry = await startRegistry();
const redis = await startRedis();
try {
  for (const name of values.app) {
    const run = await prove(name, provedApps[name]!);
    // The latest run of each app counts.
    record.runs = [...record.runs.filter(({ app }) => app !== name), run];
    record.summary = Object.fromEntries(record.runs.map((each) => [each.app, summaryOf(each)]));
    writeSummary(values.json, record);
  }
} finally {
  registry.stop();
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function prove(
  name: string,
  { request, entry, build, paths, needsRedis }: ProvedApp,
): Promise<ProvedRun> {
  if (needsRedis && redis === undefined)
    throw new Error(`${name} needs Redis, but redis-server was not found on PATH.`);
  const cwd = copyExample(name, folder);
  const env = { ...npmEnvironment(registry), ...(needsRedis && { REDIS_URL: redis!.url }) };
  // Asynchronous, because this process is the registry.
  const run = async (program: string, ...args: string[]): Promise<void> => {
    const [code] = await once(spawn(program, args, { cwd, env, stdio: 'inherit' }), 'exit');
    if (code !== 0) throw new Error(`${program} ${args[0]} ended with ${code}.`);
  };
  await run('npm', 'install');
  if (build !== undefined) await run('sh', '-c', build);
  copyFileSync(join(import.meta.dirname, 'contract.mjs'), join(cwd, 'contract.mjs'));
  await run('node', 'contract.mjs', '--write', entry, ...paths);
  commit(cwd);
  const json = join(folder, `${name}.json`);
  const [loadBefore, each] = [loadavg()[0]!, Number(values.each)];
  const test = ['node', 'contract.mjs', entry, ...paths].map((word) => `'${word}'`).join(' ');
  const options = ['--prove', '--each', values.each, '--test', test, '--build', build ?? 'none'];
  const files = ['--json', json, '--out', join(folder, 'out')];
  await run('redline', 'doctor', request, ...options, ...files, '--', 'node', entry);
  const result = JSON.parse(readFileSync(json, 'utf8')) as DoctorResult;
  if (result.ladder !== undefined) record.machine = result.ladder.machine;
  return {
    app: name,
    startedAt: result.startedAt,
    seconds: Math.round(result.durationSeconds),
    loadBefore,
    each,
    measured: result.measured,
    findings: result.findings.map(({ rule, file, line, sure, cost, proof }) => ({
      rule,
      file,
      line,
      sure,
      ...(cost && { cost }),
      ...(proof && { proof }),
    })),
    together: result.together,
    warnings: result.warnings,
  };
}

/** Commits the app, because worktrees are made from commits. */
function commit(cwd: string): void {
  const git = (...words: string[]): void => {
    const who = ['-c', 'user.name=proof', '-c', 'user.email=proof@localhost'];
    execFileSync('git', ['-C', cwd, ...who, ...words], { stdio: 'ignore' });
  };
  execFileSync('git', ['init', '--quiet', cwd]);
  execFileSync('sh', ['-c', 'printf "node_modules\\ndist\\nredline-out\\n" > .gitignore'], { cwd });
  git('add', '.');
  git('commit', '-m', 'as it is');
}

function summaryOf({ findings, together }: ProvedRun): DoctorProve['summary'][string] {
  const proved = findings.filter(({ proof }) => proof?.word === 'gains').length;
  return { findings: findings.length, proved, together: together?.cpu?.value ?? null };
}
