import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freePort } from '@redline/services';
import type { DoctorResult } from '../../src/doctor/result.ts';
import type { FlameResult } from '../../src/flame/result.ts';
import { suitableConnections } from '../../src/profile/suitable-load.ts';
import { Workbench } from './run-cli.ts';

/** Exactly 100 ms of CPU for each request, however busy the machine is. */
const slow = `const http = require('node:http');
function burn() {
  const used = () => process.cpuUsage().user + process.cpuUsage().system;
  const begin = used();
  while (used() - begin < 100_000) for (let i = 0; i < 1e5; i++);
}
http.createServer((request, response) => {
  burn();
  response.end('ok');
}).listen(process.env.PORT, process.env.HOST);
`;

describe('a route of 100 ms', () => {
  test('is profiled by flame without a word about connections', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.cjs', slow);
    const how = ['--seconds', '2', '--warmup', '1', '--json', 'r.json'];
    const url = `http://127.0.0.1:${await freePort()}/`;
    const { code, stderr } = await bench.runApp(['flame', url, ...how]);
    assert.equal(code, 0, stderr);
    const load = (JSON.parse(bench.read('r.json')) as FlameResult).load!;
    // Two, or a few more where the client shares its core with others.
    assert.ok(load.connections >= 2 && load.connections <= 8, `${load.connections}`);
    assert.ok(
      load.microsPerRequest > 90_000 && load.microsPerRequest < 220_000,
      `${load.microsPerRequest}`,
    );
  });

  test('is measured by doctor', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.cjs', slow);
    const how = ['--seconds', '2', '--warmup', '1', '--json', 'r.json'];
    const { code, stderr } = await bench.runApp(['doctor', '/', ...how]);
    assert.equal(code, 0, stderr);
    const { measured } = JSON.parse(bench.read('r.json')) as DoctorResult;
    assert.ok(
      measured!.microsPerRequest > 90_000 && measured!.microsPerRequest < 220_000,
      `${measured!.microsPerRequest}`,
    );
  });
});

test('a failing route is told by its status and the start of its body', async (t) => {
  const bench = new Workbench(t);
  bench.write(
    'app.cjs',
    `let asked = 0;
require('node:http').createServer((request, response) => {
  if (++asked > 20) response.statusCode = 429;
  response.end(asked > 20 ? 'Too many requests' : 'ok');
}).listen(process.env.PORT, process.env.HOST);`,
  );
  const url = `http://127.0.0.1:${await freePort()}/`;
  const { code, stderr } = await bench.runApp(['flame', url, '--seconds', '1', '--warmup', '1']);
  assert.equal(code, 1);
  assert.match(stderr, /outside 2xx and 3xx, such as GET \/ with 429 "Too many requests"/);
});

test('a route that fails now and then is reported with one of its responses', async (t) => {
  const bench = new Workbench(t);
  bench.write(
    'app.cjs',
    `let asked = 0;
require('node:http').createServer((request, response) => {
  const isBad = ++asked > 40 && asked % 4 === 0;
  if (isBad) response.statusCode = 503;
  response.end(isBad ? 'overloaded' : 'ok');
}).listen(process.env.PORT, process.env.HOST);`,
  );
  const url = `http://127.0.0.1:${await freePort()}/`;
  const run = ['flame', url, '--seconds', '1', '--warmup', '1', '--'];
  const { code, stdout, stderr } = await bench.run([...run, process.execPath, 'app.cjs']);
  assert.equal(code, 0, stderr);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /requests had a status outside 2xx and 3xx, such as GET \/ with 503 "overloaded"\./,
  );
});

describe('connections', () => {
  for (const [what, look, durationMs, connections] of [
    ['a fast route keeps 64', { tookMs: 0.5, cpuMs: 0.3 }, 10_000, 64],
    ['of 50 ms are 10', { tookMs: 50, cpuMs: 50 }, 10_000, 10],
    ['of 200 ms are 2', { tookMs: 200, cpuMs: 200 }, 10_000, 2],
    ['of 200 ms in 5 s are 2', { tookMs: 200, cpuMs: 200 }, 5_000, 2],
    ['that wait are as many as fill a core', { tookMs: 500, cpuMs: 25 }, 10_000, 40],
    ['that wait with little CPU are 64', { tookMs: 300, cpuMs: 1 }, 10_000, 64],
  ] as const) {
    test(what, () => assert.equal(suitableConnections(look, durationMs), connections));
  }
});
