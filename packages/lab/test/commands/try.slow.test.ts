import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { Workbench } from './run-cli.ts';

const needsEngine = process.platform === 'linux' ? false : 'the engine is for Linux';
/** The least measuring there is. */
const shortest = ['--restarts', '1', '--connections', '4', '--json', 'r.json'];

function resultOf(bench: Workbench): TryResult {
  return JSON.parse(bench.read('r.json')) as TryResult;
}

function app(port: string, body: string): string {
  return `require('node:http').createServer((request, response) => {
    if (request.url !== '/' && request.url !== '/feed') response.statusCode = 404;
    response.end(${body});
  }).listen(${port});`;
}

describe('redline try', { skip: needsEngine }, () => {
  test('compares the status alone where bodies differ by themselves, and keeps to the path it is given', async (t) => {
    const bench = new Workbench(t);
    bench.write('app.cjs', app('process.env.PORT', 'String(process.pid)'));
    const { code, stdout, stderr } = await bench.run([
      'try',
      '/feed',
      ...shortest,
      '--',
      'node',
      'app.cjs',
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(resultOf(bench).compared, 'status');
    assert.match(stdout, /only the\s+status was compared/);
    assert.deepEqual(resultOf(bench).bench.load.requests, ['GET /feed']);
  });

  test('asks for the busiest GET route of a log, and adds what processes gain from where they are started', async (t) => {
    const bench = new Workbench(t);
    const line = (method: string, url: string, responseTime: number): string =>
      JSON.stringify({ req: { method, url }, res: { statusCode: 200 }, responseTime });
    bench.write(
      'access.log',
      [
        line('GET', '/', 1),
        line('GET', '/', 1),
        line('GET', '/feed', 9),
        line('POST', '/', 99),
      ].join('\n'),
    );
    bench.write(
      'app.cjs',
      app('process.env.PORT', "require('node:child_process').execFileSync('echo', ['hi'])"),
    );
    const { code, stderr } = await bench.run([
      'try',
      '--log',
      'access.log',
      ...shortest,
      '--',
      'node',
      'app.cjs',
    ]);
    assert.equal(code, 0, stderr);
    const { requestsFrom, packages, title } = resultOf(bench);
    assert.match(requestsFrom, /busiest GET route of access\.log, with 8.* of its time/);
    assert.match(title, /1 requests of \/feed in access\.log/);
    assert.deepEqual(
      packages.map(({ name }) => name),
      ['@redline/http', '@redline/child-process'],
    );
  });

  test('takes the start script of the folder it is given, after what has to run before', async (t) => {
    const bench = new Workbench(t);
    bench.write('package.json', '{"main":"app.cjs"}');
    bench.write('app.cjs', app('process.env.PORT', "require('node:fs').readFileSync('made')"));
    const before = ['--before', `node -e "require('fs').writeFileSync('made', 'x')"`];
    const { code, stderr } = await bench.run([
      'try',
      '--cwd',
      bench.folder,
      ...before,
      ...shortest,
    ]);
    assert.equal(code, 0, stderr);
    assert.equal(resultOf(bench).title, 'node app.cjs, GET /');
  });

  test('measures an app that listens at ::1, at a port that the system chooses, or that it finds itself', async (t) => {
    const bench = new Workbench(t);
    const handler = '(request, response) => response.end("ok")';
    bench.write('v6.cjs', `require('node:http').createServer(${handler}).listen(4500, '::1');`);
    bench.write('zero.cjs', `require('node:http').createServer(${handler}).listen(0);`);
    // As get-port does: what it probes is not what it listens at in another start.
    bench.write(
      'probes.cjs',
      `const probe = require('node:net').createServer().listen(4600, () => {
        const { port } = probe.address();
        probe.close(() => require('node:http').createServer(${handler}).listen(port));
      });`,
    );
    for (const file of ['v6.cjs', 'zero.cjs', 'probes.cjs']) {
      const { code, stderr } = await bench.run(['try', ...shortest, '--', 'node', file]);
      assert.equal(code, 0, `${file}: ${stderr}`);
      assert.equal(resultOf(bench).bench.load.requests[0], 'GET /');
    }
  });
});
