// `node contract.mjs [--write] FILE PATH…`: the tests of an app that `doctor-prove` copies. Starts FILE and asks for each path
// twice; with --write it keeps the responses, and otherwise it compares them with those that were kept.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

const kept = new URL('contract.json', import.meta.url);
const [first, ...rest] = process.argv.slice(2);
const isWriting = first === '--write';
const [file, ...paths] = isWriting ? rest : [first, ...rest];

const port = await freePort();
const server = spawn(process.execPath, [file], {
  env: { ...process.env, PORT: String(port), HOST: '127.0.0.1' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const exited = once(server, 'exit');
try {
  const responses = await askAll();
  if (isWriting) writeFileSync(kept, `${JSON.stringify(responses, undefined, 1)}\n`);
  else assert.deepEqual(responses, JSON.parse(readFileSync(kept, 'utf8')));
} finally {
  server.kill();
  await exited;
}

async function askAll() {
  const responses = [];
  for (const path of [...paths, ...paths]) {
    const response = await ask(path);
    const type = response.headers.get('content-type');
    responses.push([path, response.status, type, await response.text()]);
  }
  return responses;
}

async function ask(path) {
  for (let tries = 0; ; tries++) {
    try {
      return await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
    } catch (error) {
      if (tries === 200 || server.exitCode !== null) throw error;
      await sleep(100);
    }
  }
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address();
  probe.close();
  return free;
}
