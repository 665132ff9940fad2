// `npm run demo:scale-out` is its own proof: it exits with 0 only where no read failed and in the end nothing was outdated.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findOnPath } from '@redline/services';

const folder = join(import.meta.dirname, '../examples/cached-api/dist/scale-out');
const skip =
  findOnPath('redis-server', 'valkey-server') === undefined && 'there is no redis-server on PATH';

test(
  'three replicas on a Cluster: every memory hears of a change, and a killed master costs no read',
  { skip },
  async () => {
    const demo = spawn(process.execPath, [join(folder, 'demo.js')], {
      env: { ...process.env, DEMO_SECONDS: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [code]] = await Promise.all([
      text(demo.stdout),
      text(demo.stderr),
      once(demo, 'exit'),
    ]);
    assert.equal(code, 0, output + errors);
    assert.match(output, /all three answer with the new name/);
    // One, unless a process stood still for longer than its lease.
    assert.match(output, /handler runs in all: [1-3]\n/);
    assert.match(output, /its successor is listened to/);
    assert.match(output, /the memory of all three is empty/);
    assert.match(output, /failed reads +0\n/);
  },
);

test('without HAProxy, a round robin passes requests on, each to the next one', async (t) => {
  const servers = ['a', 'b'].map((name) =>
    createServer(async (request, response) => {
      const body = await text(request);
      response.writeHead(201, { 'x-name': name });
      response.end(`${request.method} ${request.url} ${body}`);
    }).listen(0, '127.0.0.1'),
  );
  t.after(() => servers.forEach((server) => server.closeAllConnections() ?? server.close()));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  const { startRoundRobin } = await import(pathToFileURL(join(folder, 'balancer.js')).href);
  const balancer = await startRoundRobin(ports);
  const names = [];
  for (let i = 0; i < 4; i++) {
    const response = await fetch(`http://127.0.0.1:${balancer.port}/x?y`, {
      method: 'PUT',
      body: 'z',
    });
    assert.equal(response.status, 201);
    assert.equal(await response.text(), 'PUT /x?y z');
    names.push(response.headers.get('x-name'));
  }
  assert.deepEqual(names.toSorted(), ['a', 'a', 'b', 'b']);
  await balancer.stop();
});
