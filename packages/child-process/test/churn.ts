// Starts and ends many children of every kind, and prints what is left of them: `churn.ts COUNT [MODULE]`.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { descriptors, residentMiB, zombies } from './usage.ts';

const IN_FLIGHT = 20;
const spawns = Number(process.argv[2]);
const engine: typeof import('node:child_process') = await import(
  process.argv[3] ?? '../src/index.ts'
);
const { execFile, spawn, spawnSync } = engine;

const kinds = [
  async () => once(spawn('true'), 'close'),
  async () => once(spawn('echo', ['x']).stdout.resume(), 'close'),
  async () => new Promise((resolve) => execFile('echo', ['x'], resolve)),
  async () => once(spawn('true', { stdio: 'ignore' }), 'close'),
  async () => new Promise((resolve) => execFile('redline-no-such-program', resolve)),
  async () => {
    const child = spawn('cat');
    child.stdin.end('x');
    child.stdout.resume();
    await once(child, 'close');
  },
  async () => {
    const child = spawn('sleep', ['10']);
    child.kill();
    await once(child, 'exit');
  },
  async () => spawnSync('cat', { input: Buffer.alloc(70_000) }),
  async () => spawnSync('redline-no-such-program'),
  async () => spawnSync('sleep', ['10'], { timeout: 1 }),
  async () => spawnSync('sh', ['-c', 'printf 123; exec sleep 10'], { maxBuffer: 2 }),
];
const run = async (count: number) => {
  let left = count;
  const line = async () => {
    while (left-- > 0) await kinds[left % kinds.length]!();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, line));
  await sleep(200);
};
await run(1000);
const before = { descriptors: descriptors(), resident: residentMiB() };
await run(spawns);
const after = { descriptors: descriptors(), resident: residentMiB(), zombies: zombies() };
process.stdout.write(JSON.stringify({ before, after }));
