import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { sendOnceReady } from '../../src/servers/contract.ts';
import { chooseRequest, type ChosenRequest, pickRoutes } from '../../src/try/choose-request.ts';

const options = { headers: {}, readyTimeoutMs: 20_000 };

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
  return chooseRequest({ host: '127.0.0.1', port }, pickRoutes(Object.keys(answers)), {
    ...options,
    signal,
  });
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
      /^The only GET .*answer\. 2 others ask for a login: add --login, or -H 'auth.*'\. Name/,
    );
  });

  test('ends where none answers, with what some of them said', async (t) => {
    const message = /\(GET \/a answers 500, GET \/ answers 404\).*-H for a header/;
    await assert.rejects(choose(t, { '/a': { status: 500 } }), { message });
  });

  test('compares routes warm: the first to be asked does not win by being the first', async (t) => {
    let asked = 0;
    const server = createServer((request, response) => {
      const ms = asked++ === 0 ? 150 : request.url === '/items' ? 40 : 0;
      setTimeout(() => response.end(), ms);
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const picked = pickRoutes(['/', '/items']);
    const { signal } = new AbortController();
    const { request } = await chooseRequest({ host: '127.0.0.1', port }, picked, {
      ...options,
      signal,
    });
    assert.equal(request.path, '/items');
  });

  test('waits while the app says that it is not ready, and takes no redirect to https or to a login for a route', async (t) => {
    let asked = 0;
    const server = createServer((request, response) => {
      if (++asked <= 4) response.writeHead(503, { 'retry-after': '1' }).end();
      else if (request.url === '/feed')
        response.writeHead(302, { location: '/login?to=feed' }).end();
      else response.end();
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    const secured = createServer((_, response) => {
      response.writeHead(301, { location: 'https://localhost/' }).end();
    }).listen(0, '127.0.0.1');
    t.after(() => secured.close());
    await Promise.all([once(server, 'listening'), once(secured, 'listening')]);
    const { signal } = new AbortController();
    const choice = (at: typeof server): Promise<ChosenRequest> =>
      chooseRequest(
        { host: '127.0.0.1', port: (at.address() as AddressInfo).port },
        pickRoutes(['/feed']),
        {
          ...options,
          signal,
        },
      );
    const { request, why } = await choice(server);
    assert.equal(request.path, '/');
    assert.match(why, /1 other asks for a login/);
    await assert.rejects(choice(secured), { message: /^Not for you: .*only redirects to https/ });
  });

  for (const status of [404, 425, 502]) {
    test(`waits for routes that come later, which answer ${status} before`, async (t) => {
      let asked = 0;
      const server = createServer((request, response) => {
        response.writeHead(++asked <= 2 || request.url === '/' ? status : 200).end();
      }).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      const endpoint = {
        host: '127.0.0.1' as const,
        port: (server.address() as AddressInfo).port,
      };
      const { signal } = new AbortController();
      const picked = pickRoutes(['/feed']);
      const { request } = await chooseRequest(endpoint, picked, { ...options, signal });
      assert.equal(request.path, '/feed');
      asked = 0;
      assert.equal((await sendOnceReady(endpoint, request, { signal })).status, 200);
    });
  }

  test('asks nothing that looks like an action, in whatever language, and nothing that needs a value', () => {
    const actions = [
      '/logout',
      '/log-out',
      '/auth/sign_out',
      '/reset',
      '/admin/delete-all',
      '/admin/deleteAll',
      '/users/remove/all',
      '/cache.flush',
      '/jobs/runNow',
      '/db/seed',
      '/unsubscribe',
      '/api/v1/payments/refund',
      '/konto/l%C3%B6schen',
      '/konto/loeschen',
      '/compte/supprimer',
      '/déconnexion',
      '/cuenta/eliminar',
      '/conta/excluir',
      '/carrello/svuota',
      '/account/verwijderen',
      '/konto/usuń',
      '/hesap/çıkış',
      '/заказ/удалить',
      '/账户/删除',
      '/アカウント/削除',
      '/desconectar',
      '/cron/daily',
      '/api/revalidate',
      '/auth/callback',
      '/newsletter/opt-out',
      '/queue/drain',
    ];
    const values = ['/users/:id', '/users/{id}', '/files/*', '/a/(\\d+)', '/users/:id(\\d+)/posts'];
    const asked = [
      '/',
      '/feed',
      '/items',
      '/products/startups',
      '/categories',
      '/setlists',
      '/kills',
      '/generated-reports',
      '/webhooks',
    ];
    const picked = pickRoutes([...actions, ...values, ...asked, '/users/:id/remove', '/health']);
    assert.deepEqual(
      actions.filter((path) => !picked.actions.includes(path)),
      [],
    );
    assert.deepEqual(
      values.filter((path) => picked.asked.includes(path)),
      [],
    );
    assert.deepEqual(picked.asked.toSorted(), asked.toSorted());
    assert.deepEqual(picked.others, ['/health']);
  });
});
