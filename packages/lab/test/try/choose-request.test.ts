import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { chooseRequest, type ChosenRequest } from '../../src/try/choose-request.ts';

/** Chooses among the routes of a server that answers each with its status, after its time. */
async function choose(
  context: TestContext,
  answers: Record<string, { status?: number; ms?: number; bytes?: number }>,
): Promise<ChosenRequest> {
  const server = createServer((request, response) => {
    const { status = 200, ms = 0, bytes = 1 } = answers[request.url!] ?? { status: 404 };
    setTimeout(() => response.writeHead(status).end('x'.repeat(bytes)), ms);
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  return chooseRequest({ host: '127.0.0.1', port }, Object.keys(answers), {}, signal);
}

describe('without a request, redline try', () => {
  test('asks for the route that takes longest, and leaves out what orchestrators ask for', async (t) => {
    const answers = { '/a': {}, '/feed': { ms: 60 }, '/health': { ms: 120 } };
    const { request, why } = await choose(t, answers);
    assert.equal(request.path, '/feed');
    assert.match(why, /^Of 2 GET routes that answer, the one that takes longest\. Name another/);
  });

  test('leaves files of a page to others, unless there is nothing else', async (t) => {
    const files = { '/assets/main-1a2b.js.map': { ms: 80 }, '/logo.svg': { ms: 60 } };
    const { request } = await choose(t, { ...files, '/email': {}, '/feed.json': { ms: 20 } });
    assert.equal(request.path, '/feed.json');
    assert.equal((await choose(t, files)).request.path, '/assets/main-1a2b.js.map');
  });

  test('says how many routes need a login', async (t) => {
    const answers = { '/a': {}, '/orders': { status: 401 }, '/admin': { status: 403 } };
    const { request, why } = await choose(t, answers);
    assert.equal(request.path, '/a');
    assert.match(
      why,
      /^The only GET .*answer\. 2 others answered 401 or 403: add -H 'auth.*'\. Name/,
    );
  });

  test('ends where none answers, with what some of them said', async (t) => {
    const message = /\(GET \/a answers 500, GET \/ answers 404\).*-H for a header/;
    await assert.rejects(choose(t, { '/a': { status: 500 } }), { message });
  });
});
