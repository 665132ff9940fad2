// One process for each request that the server waits for, and at /probe how long it waits. SPAWN_MODULE: where
// `spawnSync` comes from.
import http from 'node:http';
import process from 'node:process';

const { spawnSync } = await import(process.env.SPAWN_MODULE ?? 'node:child_process');

// Held, so that a fork has page tables to copy.
export const resident = Array.from({ length: Number(process.env.RESIDENT_MIB ?? 0) }, () =>
  new Uint8Array(2 ** 20).fill(1),
);
let calls = [];

http
  .createServer((request, response) => {
    if (request.url === '/probe') {
      response.setHeader('connection', 'close');
      response.end(JSON.stringify(takeFigures()));
      return;
    }
    const before = performance.now();
    const { status } = spawnSync('true');
    calls.push((performance.now() - before) * 1_000);
    response.end(String(status));
  })
  .listen(process.env.PORT, process.env.HOST);

/** What a slice saw, and a fresh start. */
function takeFigures() {
  const sorted = calls.toSorted((a, b) => a - b);
  calls = [];
  const quantile = (share) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return sorted.length === 0
    ? {}
    : { spawnSyncMicros: { p50: quantile(0.5), p99: quantile(0.99) } };
}
