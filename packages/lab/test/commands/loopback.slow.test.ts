import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { freePort } from '@redline/services';
import { findEndpoint } from '../../src/load/endpoint.ts';
import { Workbench } from './run-cli.ts';
import { until } from '@redline/services/until';

/** Listens at one address, whatever it is told, or where it is told to. */
const app = `
const { createServer } = require('node:http');
createServer(function handle(request, response) {
  response.end(answer(request.url));
}).listen(process.env.PORT, process.env.ONLY_AT ?? process.env.HOST);
function answer(url) { return JSON.stringify({ url }); }
`;

const log = JSON.stringify({ req: { method: 'GET', url: '/x' }, res: { statusCode: 200 } });

/** The least of every command that asks a server. */
const commands: Record<string, string[]> = {
  // Two blocks: on a busy machine nothing may be answered in one of them.
  bench: ['--restarts', '1', '--blocks', '2', '--warmup', '0.2', '--connections', '4'],
  stairs: ['--seconds', '0.3', '--warmup', '0.2'],
  flame: ['--seconds', '0.3', '--warmup', '0'],
  deopts: ['--seconds', '0.3', '--warmup', '0'],
  heap: ['--rounds', '6', '--per-round', '40', '--warmup', '0'],
  advise: ['--seconds', '0.3', '--warmup', '0'],
};

async function hasIpv6(): Promise<boolean> {
  const server = createServer().listen(0, '::1');
  return once(server, 'listening').then(
    () => Boolean(server.close()),
    () => false,
  );
}

function workbench(t: TestContext): Workbench {
  const bench = new Workbench(t);
  bench.write('app.cjs', app);
  bench.write('access.log', log);
  return bench;
}

describe('a server at ::1', { skip: (await hasIpv6()) ? false : 'no IPv6 here' }, () => {
  for (const [command, options] of Object.entries(commands)) {
    test(`is asked by redline ${command}, where localhost leads to it`, async (t) => {
      const bench = workbench(t);
      const url = `http://localhost:${await freePort()}/x`;
      const server = ['ONLY_AT=::1', process.execPath, 'app.cjs'];
      const { code, stderr } = await bench.run([command, url, ...options, '--', ...server]);
      assert.equal(code, 0, stderr);
    });
  }

  test('is asked by its own load where there is no wrk', async (t) => {
    const bench = workbench(t);
    const url = `http://localhost:${await freePort()}/x`;
    const server = ['ONLY_AT=::1', process.execPath, 'app.cjs'];
    const args = ['bench', url, ...commands['bench']!, '--json', 'r.json', '--', ...server];
    const { code, stderr } = await bench.run(args, { PATH: '/nowhere' });
    assert.equal(code, 0, stderr);
    assert.match(bench.result('r.json').load.generator, /^redline/);
  });

  test('is told to listen there by http://[::1]', async (t) => {
    const bench = workbench(t);
    const port = await freePort();
    const args = ['flame', `http://[::1]:${port}/x`, ...commands['flame']!];
    const { code, stderr } = await bench.run([...args, '--', process.execPath, 'app.cjs']);
    assert.equal(code, 0, stderr);
  });

  test('is asked by redline replay, started or running, and taken apart where it runs', async (t) => {
    const bench = workbench(t);
    const port = await freePort();
    const url = `http://[::1]:${port}`;
    const started = ['replay', 'access.log', url, '--rps', '50', '--', process.execPath, 'app.cjs'];
    const first = await bench.run(started);
    assert.equal(first.code, 0, first.stderr);
    const running = spawn(process.execPath, ['app.cjs'], {
      cwd: bench.folder,
      env: { ...process.env, PORT: String(port), HOST: '::1' },
    });
    t.after(() => running.kill());
    await until('the app listens', () => findEndpoint(port));
    const second = await bench.run(['replay', 'access.log', url, '--rps', '50']);
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /1 of 1 answered/);
    if (process.platform !== 'linux') return;
    const apart = await bench.run(['stairs', `${url}/x`, '--seconds', '0.3', '--warmup', '0.2']);
    assert.equal(apart.code, 0, apart.stderr);
  });

  test('has its port, also for a server that would listen on all addresses', async (t) => {
    const bench = workbench(t);
    const occupant = createServer().listen(0, '::1');
    await once(occupant, 'listening');
    t.after(() => occupant.close());
    const { port } = occupant.address() as { port: number };
    bench.writeConfig({ variants: [{ ...bench.variant('fixed'), port }] });
    const { code, stderr } = await bench.run(['bench']);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`Port ${port} of "fixed" is in use by another process`));
  });
});
