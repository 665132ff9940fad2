import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { finished, Workbench } from './run-cli.ts';

const { resolve } = createRequire(import.meta.url);
const needsEngine = process.platform === 'linux' ? false : 'the engine is for Linux';
const shortest = ['--restarts', '1', '--json', 'r.json'];
const node = ['--', 'node', 'app.cjs'];

async function tried(bench: Workbench, args: string[], env?: NodeJS.ProcessEnv): Promise<string> {
  const { code, stderr } = await bench.run(['try', ...shortest, ...args, ...node], env);
  assert.equal(code, 0, stderr);
  assert.deepEqual(bench.survivors(), []);
  return stderr;
}

function resultOf(bench: Workbench): TryResult {
  return JSON.parse(bench.read('r.json')) as TryResult;
}

describe('redline try', { skip: needsEngine }, () => {
  test('measures a route of 300 ms of CPU with few connections, and says why it takes long', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `const used = () => process.cpuUsage().user;
      require('node:http').createServer((request, response) => {
        for (const begin = used(); used() - begin < 300_000; ) for (let i = 0; i < 1e5; i++);
        response.end('done');
      }).listen(process.env.PORT);`,
    );
    const stderr = await tried(bench, []);
    assert.match(stderr, /^Takes about .* and a response \d+ ms/m);
    const { response, bench: measured } = resultOf(bench);
    assert.ok(response!.cpuMs > 250, `${response!.cpuMs}`);
    assert.ok(measured.load.connections <= 4, `${measured.load.connections}`);
  });

  test('measures the HTTP server of a Unix socket at a port, and leaves the socket alone', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `require('node:http').createServer((_, response) => response.end('ok')).listen('app.sock');`,
    );
    const stderr = await tried(bench, ['--connections', '4']);
    assert.match(
      stderr,
      /^Listens at the Unix socket app\.sock, in this run at port \d+ \(HTTP\)/m,
    );
    assert.throws(() => bench.read('app.sock'));
  });

  test('replays what a browser recorded, with its bodies, and names what it leaves out', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += chunk));
        request.on('end', () => {
          if (request.url === '/search' && body !== '{"q":"a"}') response.statusCode = 400;
          if (request.url === '/gone') response.statusCode = 404;
          response.end(request.url);
        });
      }).listen(process.env.PORT);`,
    );
    const entry = (method: string, path: string, text?: string): object => ({
      request: {
        method,
        url: `http://localhost:3000${path}`,
        headers: [{ name: 'Cookie', value: 'sid=topsecret' }],
        ...(text === undefined ? {} : { postData: { text } }),
      },
      response: { status: 200 },
    });
    const entries = [
      entry('GET', '/items'),
      entry('GET', '/gone'),
      entry('POST', '/search', '{"q":"a"}'),
      entry('POST', '/pay', '{}'),
    ];
    bench.write('shop.har', JSON.stringify({ log: { entries } }));
    const har = ['--har', 'shop.har', '--allow', 'POST /search', '--connections', '4'];
    const stderr = await tried(bench, har);
    assert.match(stderr, /Left out, because they may change something: POST \/pay/);
    assert.match(stderr, /Left out, because they fail: GET \/gone answers 404/);
    assert.equal(resultOf(bench).title, 'node app.cjs, 3 requests of shop.har');
    assert.doesNotMatch(bench.read('r.json') + stderr, /topsecret/);
  });

  test('asks an app that describes itself by GraphQL for what its schema lists', async (t) => {
    const bench = new Workbench(t);
    const types = [
      {
        kind: 'OBJECT',
        name: 'Query',
        fields: [{ name: 'items', args: [], type: { kind: 'SCALAR', name: 'String' } }],
      },
    ];
    const schema = { data: { __schema: { queryType: { name: 'Query' }, types } } };
    bench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        let body = '';
        request.on('data', (chunk) => (body += chunk));
        request.on('end', () => {
          if (request.method !== 'POST' || request.url !== '/graphql') response.statusCode = 404;
          if (body.includes('__schema')) return response.end(${JSON.stringify(JSON.stringify(schema))});
          response.end(body.includes('items') ? '{"data":{"items":"a"}}' : '{"data":{"__typename":"Query"}}');
        });
      }).listen(process.env.PORT);`,
    );
    const stderr = await tried(bench, ['--connections', '4']);
    assert.match(stderr, /Requests, by the GraphQL schema of \/graphql: POST \/graphql/);
    assert.match(stderr, /\{"query":"\{items\}"\}/);
    assert.equal(resultOf(bench).title, 'node app.cjs, POST /graphql');
  });

  test('logs in to each copy, whose sessions are its own, and writes no secret anywhere', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `const express = require(${JSON.stringify(resolve('express'))});
      const app = express();
      const session = require('node:crypto').randomUUID();
      app.post('/login', express.json(), (request, response) => {
        if (request.body.word !== 'open sesame') return response.sendStatus(401);
        response.cookie('theme', 'dark').cookie('sid', session, { httpOnly: true }).json({});
      });
      app.get('/orders', (request, response) => {
        const known = request.headers.cookie?.includes('sid=' + session);
        response.status(known ? 200 : 401).json({ orders: [] });
      });
      app.listen(process.env.PORT);`,
    );
    const login = ['--login', 'POST /login {"word":"open sesame"}'];
    const report = ['--md', 'r.md', '--html', 'r.html'];
    const quick = ['--connections', '4', ...report, ...login];
    const { code, stdout, stderr } = await bench.run(['try', ...shortest, ...quick, ...node]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Logs in to each copy once: POST \/login\.$/m);
    const result = resultOf(bench);
    assert.deepEqual(
      [result.title, result.app.framework],
      ['node app.cjs, GET /orders', 'Express'],
    );
    const written = ['r.json', 'r.md', 'r.html'].map((name) => bench.read(name));
    for (const text of [stdout, stderr, ...written]) assert.doesNotMatch(text, /sesame|sid=/);
  });

  test('replays what somebody requests while it records, and writes no secret of it anywhere', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        if (request.url.startsWith('/mine') && request.headers.cookie !== 'sid=topsecret') response.statusCode = 401;
        response.end('ok');
      }).listen(process.env.PORT);`,
    );
    const outputs = ['--json', 'r.json', '--md', 'r.md', '--html', 'r.html'];
    const options = ['--restarts', '1', '--connections', '4', '--record', '4', ...outputs];
    const child = bench.start(['try', ...options, ...node]);
    const ended = finished(child);
    const url = await new Promise<string>((done, fail) => {
      let text = '';
      child.stderr!.on('data', (data: Buffer) => {
        text += data.toString();
        const [, found] = /Use the app at (\S+) now, for 4 s/.exec(text) ?? [];
        if (found !== undefined) done(found);
      });
      child.once('exit', () => fail(new Error(text)));
    });
    const headers = { cookie: 'sid=topsecret', authorization: 'Bearer topsecret' };
    for (const [path, method] of [
      ['/', 'GET'],
      ['/mine?token=topsecret', 'GET'],
      ['/orders', 'POST'],
      ['/logout', 'GET'],
    ]) {
      await fetch(url + path!, { method: method!, headers });
    }
    const { code, stdout, stderr } = await ended;
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /Left out, because they may change something: POST \/orders, GET \/logout/,
    );
    const { requestsFrom, bench: measured } = resultOf(bench);
    assert.equal(requestsFrom, '2 requests of your own.');
    assert.equal(measured.load.requests.length, 2);
    const written = ['r.json', 'r.md', 'r.html'].map((name) => bench.read(name));
    for (const text of [stdout, stderr, ...written]) assert.doesNotMatch(text, /topsecret/);
    assert.deepEqual(bench.survivors(), []);
  });
});
