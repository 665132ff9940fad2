// Several processes for each request, and at /probe what starting them costs the main thread. On Node, Bun and Deno.
// SPAWN_MODULE: where `spawn` comes from.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import process from 'node:process';

const { spawn } = await import(process.env.SPAWN_MODULE ?? 'node:child_process');
/** So many that the request itself is a small part of it. */
const spawnsPerRequest = 8;
const samplerMs = 1;

// Held, so that a fork has page tables to copy.
export const resident = Array.from({ length: Number(process.env.RESIDENT_MIB ?? 0) }, () =>
  new Uint8Array(2 ** 20).fill(1),
);
let calls = [];
let delays = [];
let cpuAtReset = mainThreadMicros();

let lastTick = performance.now();
setInterval(() => {
  const now = performance.now();
  delays.push(Math.max(0, now - lastTick - samplerMs));
  lastTick = now;
}, samplerMs);

http
  .createServer((request, response) => {
    if (request.url === '/probe') {
      response.setHeader('connection', 'close');
      response.end(JSON.stringify(takeFigures()));
    } else answer(response);
  })
  .listen(process.env.PORT, process.env.HOST);

function answer(response) {
  let text = '';
  let left = spawnsPerRequest;
  for (let i = 0; i < spawnsPerRequest; i++) {
    const before = performance.now();
    const child = spawn('echo', ['hi']);
    calls.push((performance.now() - before) * 1_000);
    child.stdout.on('data', (chunk) => (text += chunk));
    child.on('close', () => {
      left -= 1;
      if (left === 0) response.end(text);
    });
  }
}

/** What a slice saw, and a fresh start. */
function takeFigures() {
  const cpu = mainThreadMicros();
  const figures =
    calls.length === 0
      ? {}
      : {
          spawnCallMicros: { p50: quantile(calls, 0.5), p99: quantile(calls, 0.99) },
          loopDelayMs: { p99: quantile(delays, 0.99) },
          ...(cpu === undefined
            ? {}
            : { mainThreadMicrosPerSpawn: (cpu - cpuAtReset) / calls.length }),
        };
  calls = [];
  delays = [];
  cpuAtReset = cpu;
  return figures;
}

/** Linux counts each thread in nanoseconds; elsewhere there is nothing all three runtimes can read. */
function mainThreadMicros() {
  try {
    const schedstat = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1');
    return Number(schedstat.split(' ', 1)[0]) / 1_000;
  } catch {
    return undefined;
  }
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
