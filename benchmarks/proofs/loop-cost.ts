// `npm run bench -- loop-cost`: what does a busy loop of known length add to a request? Without any cuts: a server switches
// loops in its own handler on and off under one load, and reads the cost of requests. The cost turns out to depend on the
// code before: the first loop of a request costs less than its length, because the processor finishes pending writes of the
// request meanwhile. For this reason the chain of `stairs-injection` begins with a loop of its own.
import { execFileSync, spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { lowestMean } from '../draws.ts';
import { BusyLoop } from './busy-loop.mjs';
import { writeResult } from '../write-result.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    json: { type: 'string', default: 'redline-out/loop-cost.json' },
  },
});

const lengths = [2, 3, 5, 20];
const loops = new Map(lengths.map((micros) => [micros, new BusyLoop(micros)]));
/** Loops that run one after the other in a request, in µs. The first and second cases are the request without loops. */
const cases = [[], [], [2], [5], [20], [3], [3, 2], [3, 5], [3, 20]];
const [guardMs, sliceMs, timerSlopMs] = [4, 28, 2];
const warmUpRounds = 5;

let running: readonly number[] = [];
let requests = 0;

const server = createServer((request, response) => {
  requests++;
  for (const micros of running) loops.get(micros)!.run();
  response.setHeader('content-type', 'application/json');
  response.end(`{"url":${JSON.stringify(request.url)}}`);
});
server.listen(0, '127.0.0.1', () => void measure());

async function measure(): Promise<void> {
  const core = String(availableParallelism() - 1);
  execFileSync('taskset', ['-pc', core, String(process.pid)], { stdio: 'ignore' });
  execFileSync('chrt', ['--batch', '-p', '0', String(process.pid)]);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed`;
  const seconds = Number(values.seconds);
  // Loads the server like `redline stairs`: on its core, as a batch task.
  const load = spawn(
    'taskset',
    ['-c', core, 'chrt', '--batch', '0', 'wrk', '-t1', '-c16', `-d${seconds + 30}s`, url],
    { stdio: 'ignore' },
  );
  await sleep(2_000);
  const rounds = Math.floor((seconds * 1_000) / ((guardMs + sliceMs + timerSlopMs) * cases.length));
  const slices = cases.map((): number[] => []);
  for (let round = -warmUpRounds; round < rounds; round++) {
    for (const at of shuffled(cases.keys())) {
      running = cases[at]!;
      await sleep(guardMs);
      const [before, sent] = [threadMicros(), requests];
      await sleep(sliceMs);
      const cost = (threadMicros() - before) / (requests - sent);
      if (round >= 0) slices[at]!.push(cost);
    }
  }
  load.kill();
  server.closeAllConnections();
  server.close();
  report(slices);
}

function report(slices: number[][]): void {
  const added = cases.map((loopsOfCase, at) => {
    // For two loops, the base includes the first one.
    const base = slices[loopsOfCase.length === 2 ? cases.findIndex(isShield) : 0]!;
    const length = loopsOfCase.at(-1) ?? 0;
    return { loops: loopsOfCase, length, addedMicros: difference(slices[at]!, base) };
  });
  const file = {
    schema: 1,
    proof: 'loop-cost',
    requestMicros: lowestQuarterMean(slices[0]!),
    added,
  };
  writeResult(values.json, file);
  for (const { loops: ran, length, addedMicros } of added.slice(1)) {
    const { value, low, high } = addedMicros;
    const after = ran.length === 2 ? `after one of ${ran[0]} µs` : 'alone';
    process.stdout.write(
      `a loop of ${length} µs ${after} adds ${value.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}] µs\n`,
    );
  }
}

function isShield(loopsOfCase: readonly number[]): boolean {
  return loopsOfCase.length === 1 && loopsOfCase[0] === 3;
}

/** Returns the difference with a 95 % interval: bootstrap over rounds, drawn whole. */
function difference(of: number[], base: number[]): { value: number; low: number; high: number } {
  const drawn = Array.from({ length: 1_000 }, () => {
    const rows = of.map(() => Math.floor(Math.random() * of.length));
    return (
      lowestQuarterMean(rows.map((row) => of[row]!)) -
      lowestQuarterMean(rows.map((row) => base[row]!))
    );
  }).toSorted((a, b) => a - b);
  return {
    value: lowestQuarterMean(of) - lowestQuarterMean(base),
    low: drawn[25]!,
    high: drawn[974]!,
  };
}

function lowestQuarterMean(costs: readonly number[]): number {
  return lowestMean(costs, 1 / 4);
}

function shuffled(indices: Iterable<number>): number[] {
  return [...indices]
    .map((index) => ({ index, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ index }) => index);
}

function threadMicros(): number {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
