// Counts the system calls of a child process: node scripts/spawn-system-calls.ts. Needs strace, and the packages built. A run
// of few children is subtracted from one of many, so that the start of Node does not count; a child counts until its exec.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { table } from '../benchmarks/tables/format.ts';

const FEW = 50;
const MANY = 150;
/** `true` is in the fourth folder. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const engine = pathToFileURL(join(import.meta.dirname, '../packages/child-process/dist/index.js'));
const modules = {
  '@redline/child-process': engine.href,
  'node:child_process': 'node:child_process',
};
const acts = {
  'spawn, outputs read': `
    const child = spawn('true');
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');`,
  'spawn, outputs never accessed': "await once(spawn('true'), 'close');",
  spawnSync: "spawnSync('true');",
};

/** System calls by their thread and name: `main read`. */
type Counts = Map<string, number>;

const folder = mkdtempSync(join(tmpdir(), 'redline-system-calls-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const rows: string[][] = [];
const details: string[] = [];
for (const [module, name] of Object.entries(modules)) {
  for (const [what, act] of Object.entries(acts)) {
    const program = `
      import { once } from 'node:events';
      import { spawn, spawnSync } from '${name}';
      for (let left = Number(process.argv[1]); left > 0; left--) {${act}}`;
    const perChild = difference(count(program, MANY), count(program, FEW));
    const of = (place: string): number =>
      sum([...perChild].filter(([key]) => key.startsWith(place)).map(([, calls]) => calls));
    const figures = [of('main'), of('thread'), of('child'), of('')];
    rows.push([module, what, ...figures.map((calls) => calls.toFixed(1))]);
    const names = [...perChild].filter(([, calls]) => calls >= 0.1);
    names.sort(([, one], [, other]) => other - one);
    const list = names.map(([key, calls]) => `${key} ${calls.toFixed(1)}`).join(', ');
    details.push(`${module}, ${what}: ${list}`);
  }
}
const heading = ['', '', 'main thread', 'other threads', 'child until its exec', 'together'];
process.stdout.write(`${table(heading, rows)}\n\n${details.join('\n')}\n`);

function count(program: string, children: number): Counts {
  const log = join(folder, 'log');
  const node = [process.execPath, '--no-warnings', '--input-type=module', '--eval', program];
  const args = ['-f', '-qq', '-s0', '-o', log, ...node, String(children)];
  const { error, status, stderr } = spawnSync('strace', args, {
    encoding: 'utf8',
    env: { PATH, HOME: process.env['HOME'] },
  });
  if (error !== undefined || status !== 0) {
    throw new Error(`strace did not run the program: ${error?.message ?? stderr}`);
  }
  return countsOf(readFileSync(log, 'latin1'));
}

function countsOf(log: string): Counts {
  const counts: Counts = new Map();
  const lines = [...log.matchAll(/^(\d+) +(\w+)\(/gm)];
  const main = lines[0]![1]!;
  const children = new Set(
    lines.flatMap(([, task, call]) => (call === 'execve' && task !== main ? [task!] : [])),
  );
  const replaced = new Set<string>();
  for (const [, task, call] of lines) {
    if (replaced.has(task!)) continue;
    const place = task === main ? 'main' : children.has(task!) ? 'child' : 'thread';
    if (place === 'child' && call === 'execve') replaced.add(task!);
    const key = `${place} ${call}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function difference(many: Counts, few: Counts): Counts {
  const keys = new Set([...many.keys(), ...few.keys()]);
  return new Map(
    [...keys].map((key) => [key, ((many.get(key) ?? 0) - (few.get(key) ?? 0)) / (MANY - FEW)]),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
