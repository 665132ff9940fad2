import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { freePort } from '@redline/services';
import type { TopResult } from '../../src/access-log/top.ts';
import { Workbench } from './run-cli.ts';

const line = (at: number, method: string, url: string, status: number, ms: number): string =>
  JSON.stringify({
    level: 30,
    time: 1_763_632_800_000 + at,
    req: { method, url },
    res: { statusCode: status },
    responseTime: ms,
  });

const log = [
  'Server listening at http://0.0.0.0:3000',
  '{"level":30,"msg":"ready"}',
  line(0, 'GET', '/users/1', 200, 10),
  line(40, 'GET', '/users/2?full=1', 200, 30),
  line(80, 'GET', '/report', 200, 100),
  line(120, 'POST', '/orders', 201, 20),
  line(160, 'GET', '/users/3', 500, 1),
].join('\n');

describe('redline top', () => {
  test('lists routes by total time, and counts what it could not read', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', log);
    const args = ['top', 'access.log', '--json', 'top.json', '--html', 'top.html'];
    const { code, stdout, stderr } = await workbench.run(args);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /1 other, 1 unreadable/);
    assert.match(stdout, /! 1 of 7 lines could not be read\. The first: Server listening/);
    const { routes, counts } = JSON.parse(workbench.read('top.json')) as TopResult;
    assert.deepEqual(
      routes.map(({ method, route, requests, totalMs, serverErrors }) => [
        method,
        route,
        requests,
        totalMs,
        serverErrors,
      ]),
      [
        ['GET', '/report', 1, 100, 0],
        ['GET', '/users/:id', 3, 41, 1],
        ['POST', '/orders', 1, 20, 0],
      ],
    );
    assert.equal(counts.unreadable, 1);
    assert.equal(counts.other, 1);
    assert.match(workbench.read('top.html'), /\/users\/:id/);
  });

  test('reads compressed logs and standard input', async (t) => {
    const workbench = new Workbench(t);
    writeFileSync(join(workbench.folder, 'access.log.gz'), gzipSync(log));
    const zipped = await workbench.run(['top', 'access.log.gz', '--out', 'out']);
    assert.equal(zipped.code, 0, zipped.stderr);
    assert.match(zipped.stdout, /5 requests/);
  });

  test('says when there is nothing to read', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('other.log', 'hello\nworld\n');
    workbench.write('empty.log', '');
    for (const [file, expected, sentence] of [
      ['gone.log', 2, /gone\.log cannot be read: no such file/],
      ['empty.log', 1, /empty\.log contains no lines/],
      ['other.log', 1, /None of the 2 lines in other\.log describes a request[^]*hello/],
    ] as const) {
      const { code, stderr } = await workbench.run(['top', file]);
      assert.equal(code, expected);
      assert.match(stderr, sentence);
    }
  });
});

describe('redline replay', () => {
  test('asks a server what the log was asked, in order and at its times', async (t) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url!);
      response.statusCode = request.url === '/report' ? 404 : 200;
      response.end();
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const workbench = new Workbench(t);
    workbench.write('access.log', log);
    // One socket: on two, requests that are late together overtake each other.
    const how = ['--rate', '2', '--connections', '1', '--json', 'r.json', '--out', 'out'];
    const args = ['replay', 'access.log', url, ...how];
    const { code, stdout, stderr } = await workbench.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(asked, ['/users/1', '/users/2?full=1', '/report']);
    assert.match(stdout, /1 requests other than GET and HEAD are not replayed/);
    assert.match(stdout, /1 of 3 had a status of 400 or above/);
    const result = JSON.parse(workbench.read('r.json')) as TopResult;
    assert.equal(result.command, 'replay');
    assert.equal(result.counts.requests, 3);
  });

  test('starts the app where it is told what starts it, and asks one route with a header', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', log);
    workbench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        response.statusCode = request.headers['x-one'] === '1' ? 200 : 403;
        response.end(request.url);
      }).listen(process.env.PORT, '127.0.0.1');`,
    );
    const how = ['--rps', '100', '--route', '/users/:id', '-H', 'x-one: 1', '--md', 'r.md'];
    const url = `http://127.0.0.1:${await freePort()}`;
    const command = ['--', process.execPath, 'app.cjs'];
    const args = ['replay', 'access.log', url, ...how, '--json', 'r.json', ...command];
    const { code, stdout, stderr } = await workbench.run(args);
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /status of 400/);
    const { routes } = JSON.parse(workbench.read('r.json')) as TopResult;
    assert.deepEqual(
      routes.map(({ route, requests }) => [route, requests]),
      [['/users/:id', 2]],
    );
    assert.match(workbench.read('r.md'), /^\| `GET \/users\/:id` \| 100 % \|/m);
    assert.deepEqual(workbench.survivors(), []);
  });

  test('gives its list, or one route of it, to a comparison, with the headers of the config', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', log);
    workbench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        response.statusCode = request.headers.cookie === 'a=b' ? 200 : 403;
        response.end('ok');
      }).listen(process.env.PORT, '127.0.0.1');`,
    );
    const command = [process.execPath, 'app.cjs'];
    workbench.writeConfig({ variants: [{ name: 'app', command }] });
    const args = ['bench', '--replay', 'access.log', '--route', '/users/:id'];
    const { code, stderr } = await workbench.run([
      ...args,
      '-H',
      'cookie: a=b',
      '--json',
      'r.json',
    ]);
    assert.equal(code, 0, stderr);
    const { requests } = workbench.result('r.json').load;
    assert.deepEqual(requests, ['2 requests of /users/:id in access.log']);
  });

  test('gives its list to a comparison', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', log);
    workbench.writeConfig({ variants: [workbench.variant('app')] });
    const args = ['bench', '--replay', 'access.log', '--json', 'r.json', '--out', 'out'];
    const { code, stdout, stderr } = await workbench.run(args);
    assert.equal(code, 0, stderr);
    assert.deepEqual(workbench.result('r.json').load.requests, ['3 requests of access.log']);
    assert.match(stdout, /could not be read/);
  });

  test('refuses what it cannot do', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('posts.log', line(0, 'POST', '/orders', 201, 20));
    workbench.write('untimed.log', '{"req":{"method":"GET","url":"/"},"res":{"statusCode":200}}');
    const at = ['http://127.0.0.1:9'];
    for (const [args, code, sentence] of [
      [['posts.log', ...at], 1, /None of the 1 requests in posts\.log can be replayed/],
      [['untimed.log', ...at], 2, /has no request times; give a rate with --rps/],
      [['untimed.log', 'nowhere.ts', '--rps', '9'], 2, /nowhere\.ts/],
      [
        ['untimed.log', ...at, '--route', '/x', '--rps', '9'],
        2,
        /matches --route \/x; its routes are \/\./,
      ],
      [['untimed.log', ...at, '--rps', '50'], 1, /did not respond to any request/],
    ] as const) {
      const finished = await workbench.run(['replay', ...args]);
      assert.equal(finished.code, code, finished.stderr);
      assert.match(finished.stderr, sentence);
    }
  });
});

describe('a log in a format of its own', () => {
  const odd = 'x7 "example.com" 1791640536.123 "GET /users/1 HTTP/1.1" 350 200 0.401 [a b]\n';

  test('is refused with its line and a guess, and the guess reads it', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('odd.log', odd);
    const refused = await workbench.run(['top', 'odd.log']);
    assert.equal(refused.code, 1);
    const guess = /--format '([^']+)'/.exec(refused.stderr)?.[1];
    assert.ok(guess !== undefined, refused.stderr);
    assert.match(refused.stderr, /x7 "example\.com"/);
    const read = await workbench.run(['top', 'odd.log', '--format', guess, '--out', 'out']);
    assert.equal(read.code, 0, read.stderr);
    assert.match(read.stdout, /duration: \$request_time, in seconds/);
    assert.match(read.stdout, /GET \/users\/:id +100 % +0\.4 +1 +401/);
  });

  test('is counted where its fields are not known to be durations, and says so', async (t) => {
    const workbench = new Workbench(t);
    const known = '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl"';
    workbench.write('access.log', `${known} 350 12 0.401 7\n`);
    const { code, stdout } = await workbench.run(['top', 'access.log', '--out', 'out']);
    assert.equal(code, 0);
    assert.match(stdout, /The log has no durations/);
    assert.match(stdout, /! The durations of 100 % of the requests were not read[^]*--format/);
  });
});

test('redline top reads a log of many names with a small heap', async (t) => {
  const bench = new Workbench(t);
  const lines = Array.from({ length: 300_000 }, (_, index) => {
    const name = index.toString(36).replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!);
    return `1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /blog/the-${name} HTTP/1.1" 200 23 "-" "-" 0.004\n`;
  });
  bench.write('access.log', lines.join(''));
  const { code, stderr } = await bench.run(['top', 'access.log', '--json', 'r.json'], {
    NODE_OPTIONS: '--max-old-space-size=48',
  });
  assert.equal(code, 0, stderr);
  const { routes, folded } = JSON.parse(bench.read('r.json')) as TopResult;
  assert.deepEqual(folded, ['/blog/:name']);
  assert.deepEqual(
    routes.map(({ route, requests }) => [route, requests]),
    [['/blog/:name', 300_000]],
  );
});
