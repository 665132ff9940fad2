// A program that servers do start for each request, and at /probe what that costs the loop. TASK: git, the last five commits of a
// repository at REPOSITORY; thumbnail, GraphicsMagick on PICTURE, with one thread. SPAWN_MODULE: where `spawn` comes from.
import http from 'node:http';
import { performance } from 'node:perf_hooks';
import process from 'node:process';

const { spawn } = await import(process.env.SPAWN_MODULE ?? 'node:child_process');
const samplerMs = 1;
const commands = {
  git: ['git', ['-C', process.env.REPOSITORY, 'log', '-5', '--format=%h %s']],
  thumbnail: ['gm', ['convert', process.env.PICTURE, '-thumbnail', '160x', 'jpeg:-']],
};
const command = commands[process.env.TASK];

let calls = [];
let delays = [];
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
  const before = performance.now();
  const child = spawn(...command);
  calls.push((performance.now() - before) * 1_000);
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.on('close', (code) => {
    response.statusCode = code === 0 && chunks.length > 0 ? 200 : 500;
    response.end(Buffer.concat(chunks));
  });
}

/** What a slice saw, and a fresh start. */
function takeFigures() {
  const figures =
    calls.length === 0
      ? {}
      : {
          spawnCallMicros: { p50: quantile(calls, 0.5), p99: quantile(calls, 0.99) },
          loopDelayMs: { p99: quantile(delays, 0.99) },
        };
  calls = [];
  delays = [];
  return figures;
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
