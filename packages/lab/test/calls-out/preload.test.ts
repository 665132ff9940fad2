import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CallRecorder } from '../../src/calls-out/preload/recorder.ts';

const folder = await mkdtemp(join(tmpdir(), 'redline-preload-'));
after(() => rm(folder, { recursive: true, force: true }));

/** Says when the recorder begins and ends to follow requests. */
const app = `
  const { hasSubscribers } = require('node:diagnostics_channel');
  let last = false;
  setInterval(() => {
    const isOn = hasSubscribers('http.server.request.start');
    if (isOn !== last) console.log(isOn ? 'recording' : 'stopped');
    last = isOn;
  }, 5);`;

test('recording stops when the runner ends', { timeout: 60_000 }, async ({ signal }) => {
  const path = join(folder, 'calls');
  const runner = createServer().listen(path);
  await once(runner, 'listening');
  const preload = new URL('../../dist/calls-out/preload/preload.js', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', preload, '-e', app], {
    env: { ...process.env, REDLINE_CALLS: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [socket] = (await once(runner, 'connection')) as [Socket];
    socket.write('{"type":"watch"}\n');
    assert.equal(String((await once(child.stdout, 'data', { signal }))[0]), 'recording\n');
    socket.destroy();
    assert.equal(String((await once(child.stdout, 'data', { signal }))[0]), 'stopped\n');
  } finally {
    child.kill('SIGKILL');
    runner.close();
  }
});

test('requests beyond a limit are not kept', () => {
  const recorder = new CallRecorder();
  recorder.start();
  for (let sent = 0; sent < 2_100; sent++) {
    const request = {};
    channel('http.server.request.start').publish({ request });
    channel('http.server.response.finish').publish({ request });
  }
  assert.equal(recorder.take().length, 2_000);
  recorder.stop();
});
