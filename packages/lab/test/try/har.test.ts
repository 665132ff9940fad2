import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { type Exchange, readHar, recordingOf } from '../../src/try/har.ts';
import { Recorder } from '../../src/try/record.ts';

function exchange(method: string, url: string, more: Partial<Exchange> = {}): Exchange {
  return {
    method,
    url: `http://localhost:3000${url}`,
    headers: {},
    body: '',
    status: 200,
    ...more,
  };
}

const labels = (exchanges: Exchange[], allowed: string[] = []): string[] =>
  recordingOf(exchanges, allowed).requests.map(({ method, path }) => `${method} ${path}`);

describe('a recording', () => {
  test('is replayed as far as it only reads and succeeded, with its bodies and headers', () => {
    const query = '{"query":"{users{id}}"}';
    const { requests, leftOut } = recordingOf(
      [
        exchange('GET', '/items?page=2', {
          headers: { cookie: 'sid=1', host: 'localhost', 'if-none-match': '"a"', ':path': '/' },
        }),
        exchange('POST', '/orders', { body: '{"a":1}' }),
        exchange('POST', '/graphql', { body: query }),
        exchange('POST', '/graphql', { body: '{"query":"mutation{pay{id}}"}' }),
        exchange('GET', '/logout'),
        exchange('GET', '/gone', { status: 404 }),
        { ...exchange('GET', '/'), url: 'https://cdn.example/app.js' },
      ],
      [],
    );
    assert.deepEqual(
      requests.map(({ path, headers, body }) => [path, headers, body]),
      [
        ['/items?page=2', { cookie: 'sid=1' }, ''],
        ['/graphql', {}, query],
      ],
    );
    assert.deepEqual(leftOut, ['POST /orders', 'POST /graphql', 'GET /logout']);
  });

  test('sends what may change something only where that is named', () => {
    const all = [exchange('GET', '/a'), exchange('POST', '/search'), exchange('POST', '/pay')];
    assert.deepEqual(labels(all), ['GET /a']);
    assert.deepEqual(labels(all, ['POST /search']), ['GET /a', 'POST /search']);
    assert.deepEqual(labels(all, ['POST']), ['GET /a', 'POST /search', 'POST /pay']);
    assert.throws(() => labels([exchange('POST', '/pay')]), {
      code: 'ERR_REDLINE_OPTION',
      message: /POST \/pay may change something; --allow POST, or --allow 'POST \/pay', sends it/,
    });
  });

  test('says what is wrong with its file', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'redline-har-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [file, other] = [join(folder, 'a.har'), join(folder, 'b.har')];
    writeFileSync(file, '{"log":{"entries":[{"request":{"url":"http://a/b","method":"get"}}]}}');
    assert.deepEqual(
      readHar(file).map(({ url, method }) => [url, method]),
      [['http://a/b', 'GET']],
    );
    assert.throws(() => readHar(other), /does not exist/);
    writeFileSync(other, '{}');
    assert.throws(() => readHar(other), /is not a HAR: it has no log\.entries/);
    writeFileSync(other, 'x');
    assert.throws(() => readHar(other), { code: 'ERR_REDLINE_OPTION' });
  });
});

test('a recorder passes everything on, and remembers what was sent', async (t) => {
  const app = await listen(t);
  await using recorder = await Recorder.start(app);
  const sent = await fetch(`${recorder.url}/items?a=1`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { cookie: 'sid=1' },
  });
  assert.equal(await sent.text(), 'POST /items?a=1 {"a":1}');
  assert.equal((await fetch(`${recorder.url}/gone`)).status, 404);
  const seen = recorder.exchanges.map(({ method, url, body, status, headers }) => [
    method,
    new URL(url).pathname,
    body,
    status,
    headers['cookie'],
  ]);
  assert.deepEqual(seen, [
    ['POST', '/items', '{"a":1}', 200, 'sid=1'],
    ['GET', '/gone', '', 404, undefined],
  ]);
});

async function listen(context: TestContext): Promise<{ host: '127.0.0.1'; port: number }> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.url === '/gone') response.statusCode = 404;
      response.end(`${request.method} ${request.url} ${body}`);
    });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}
