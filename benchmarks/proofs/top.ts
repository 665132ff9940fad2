// `npm run bench -- top`: time, CPU and peak memory of `redline top` and of GoAccess, which take turns reading an access log
// of 1 GB. The log is generated with a fixed seed: five million requests of a shop in nginx's combined format with
// `$request_time`, a third of them for pages with unique names. Both write their report as JSON. GoAccess is the one on
// PATH, or Debian's, unpacked without installing it. --megabytes and --rounds change size and number of turns; --json FILE
// stores the result.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeAccessLog } from '../access-log.ts';
import { debianEnv, obtainFromDebian } from '../contenders/obtain-debian.ts';
import { writeResult } from '../write-result.ts';

export interface TopProof {
  readonly startedAt: string;
  readonly node: string;
  readonly kernel: string;
  readonly cpuModel: string;
  readonly cores: number;
  readonly bytes: number;
  readonly lines: number;
  /** Distinct paths in the log. */
  readonly paths: number;
  readonly readers: readonly ReaderFigures[];
}

export interface ReaderFigures {
  /** e.g. `goaccess 1.7` */
  readonly name: string;
  readonly arguments: readonly string[];
  /** One figure for each turn. */
  readonly seconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly rssMiB: readonly number[];
}

interface Reader {
  name: string;
  command: readonly [string, ...string[]];
}

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'string' },
  },
});
const bytes = Number(values.megabytes ?? 1_000) * 1e6;
const rounds = Number(values.rounds ?? 5);
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'top-'));
const log = join(folder, 'access.log');
try {
  const startedAt = new Date().toISOString();
  process.stdout.write(`writing ${bytes / 1e6} MB\n`);
  const { lines, paths } = await writeAccessLog(log, bytes);
  const readers = await readersOf(log);
  const figures = readers.map(({ name, command }) => ({
    name,
    arguments: command.slice(1).map((each) => each.replace(folder, '.').replace(root, '.')),
    seconds: [] as number[],
    cpuSeconds: [] as number[],
    rssMiB: [] as number[],
  }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, reader] of inTurn(readers, round)) {
      const took = await run(reader.command);
      figures[index]!.seconds.push(took.seconds);
      figures[index]!.cpuSeconds.push(took.cpuSeconds);
      figures[index]!.rssMiB.push(took.rssMiB);
      process.stdout.write(
        `${reader.name}: ${took.seconds} s, ${took.cpuSeconds} s of CPU, ${took.rssMiB} MiB\n`,
      );
    }
  }
  const result: TopProof = {
    startedAt,
    node: process.version,
    kernel: release(),
    cpuModel: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    bytes: statSync(log).size,
    lines,
    paths,
    readers: figures,
  };
  if (values.json !== undefined) writeResult(values.json, result);
} finally {
  rmSync(folder, { recursive: true });
}

/** Rotates the order, so that each reader goes first equally often. */
function inTurn(readers: readonly Reader[], round: number): [index: number, reader: Reader][] {
  return readers.map((_, place) => {
    const index = (place + round) % readers.length;
    return [index, readers[index]!];
  });
}

async function readersOf(file: string): Promise<Reader[]> {
  const cli = join(root, 'packages/lab/bin/redline.mjs');
  const out = ['--json', join(folder, 'redline.json'), '--html', join(folder, 'redline.html')];
  const redline: Reader = {
    name: 'redline top',
    command: [process.execPath, cli, 'top', file, ...out],
  };
  const obtained = await obtainFromDebian('goaccess', 'goaccess');
  if ('missing' in obtained) {
    process.stdout.write(`${obtained.missing}\n`);
    return [redline];
  }
  const env = { ...process.env, ...debianEnv() };
  // GoAccess exits with 1 after its help.
  const say = (option: string): string =>
    spawnSync(obtained.file, [option], { encoding: 'utf8', env }).stdout;
  const version = /GoAccess - ([\d.]+\d)/.exec(say('--version'))?.[1] ?? '';
  const common = [
    '--no-global-config',
    '--log-format=%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %T',
    '--date-format=%d/%b/%Y',
    '--time-format=%T',
    '--no-progress',
    `--output=${join(folder, 'goaccess.json')}`,
  ];
  const goaccess = (name: string, ...more: string[]): Reader => ({
    name,
    command: [obtained.file, file, ...common, ...more],
  });
  return [
    redline,
    goaccess(`goaccess ${version}`),
    // Newer versions have an option for several threads.
    ...(/--jobs/.test(say('--help'))
      ? [
          goaccess(
            `goaccess ${version} with a thread for each core`,
            `--jobs=${availableParallelism()}`,
          ),
        ]
      : []),
  ];
}

async function run([program, ...args]: readonly [string, ...string[]]): Promise<{
  seconds: number;
  cpuSeconds: number;
  rssMiB: number;
}> {
  const cpuBefore = childrenCpuSeconds();
  const startedAt = performance.now();
  const child = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...debianEnv() },
  });
  const ended = once(child, 'exit');
  let peakKiB = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakKiB = Math.max(peakKiB, peakOf(child.pid!));
    await Promise.race([ended, sleep(20)]);
  }
  if (child.exitCode !== 0) throw new Error(`${program} ended with ${child.exitCode}`);
  return {
    seconds: rounded((performance.now() - startedAt) / 1_000),
    cpuSeconds: rounded(childrenCpuSeconds() - cpuBefore),
    rssMiB: Math.round(peakKiB / 1_024),
  };
}

/** Peak resident memory so far, in KiB. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the CPU of all ended children: the fields cutime and cstime, in hundredths of a second. */
function childrenCpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
