import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertEndsEverywhere, walk, withoutPlaces } from './walk.ts';

/** The second of each pair is walked by `npm run test:all` alone. */
const isAll = process.env['REDLINE_ADAPTERS'] === 'all';

function first<T>(...pair: readonly [T, T]): readonly T[] {
  return isAll ? pair : pair.slice(0, 1);
}

describe('a request can be ended at every stage, and the app does not notice', () => {
  test('functions on node:http, as modules', async () => {
    const walked = await walk('chain.mjs', '/feed');
    assertEndsEverywhere(walked);
    // prettier-ignore
    assert.deepEqual(walked.names, ['handle', 'parse', 'authorise', 'select', 'price', 'rank', 'render', 'send', 'write answer']);
    assert.equal(walked.commonPath.followsAsync, false);
  });

  test('callbacks and promises on node:http, in CommonJS', async () => {
    const walked = await walk('chain.cjs', '/feed');
    assertEndsEverywhere(walked);
    for (const name of [
      'listener',
      'readBody',
      'answer',
      'findUser',
      'checkUser',
      'sum',
      'later',
      'finish',
    ]) {
      assert.ok(walked.names.includes(name), `${name} is not among ${walked.names.join(', ')}`);
    }
    assert.ok(!walked.names.includes('loadLine'));
    assert.deepEqual(walked.commonPath.afterAnswer, ['afterwards']);
    assert.equal(walked.commonPath.followsAsync, true);
  });

  for (const [size, items] of [
    ['of one chunk', 3],
    ['of many chunks', 100_000],
  ] as const) {
    const body = JSON.stringify({ items: Array.from({ length: items }, () => 7) });

    test(`listeners that read a body ${size}, and what awaits behind them`, async () => {
      const walked = await walk('body.cjs', '/read', {}, { body });
      assertEndsEverywhere(walked);
      assert.deepEqual(withoutPlaces(walked.names), [
        'createServer(…)',
        'readOrder',
        ...(items === 3 ? ['request.on(…)'] : []),
        'onEnd',
        'parseOrder',
        'onEnd after await',
        'saveOrder',
        'saveOrder after await',
        'onEnd after await',
        'present',
        'write answer',
      ]);
    });

    test(`a parser of Express that reads a body ${size}`, async () => {
      const walked = await walk('body.cjs', '/parsed', {}, { body });
      assertEndsEverywhere(walked);
      const names = withoutPlaces(walked.names);
      assert.deepEqual(names.slice(names.indexOf('jsonParser')), [
        'jsonParser',
        'POST /parsed',
        'postOrder',
        'saveOrder',
        'turn',
        '<anonymous>',
        'saveOrder after await',
        'postOrder after await',
        'present',
        'write answer',
      ]);
    });
  }

  for (const [version, name] of first(
    ['express', 'Express 5'] as const,
    ['express-4', 'Express 4'] as const,
  )) {
    test(`${name}: middleware, router, route and handlers`, async () => {
      const walked = await walk('express.cjs', '/feed', { EXPRESS: version });
      assertEndsEverywhere(walked);
      assert.deepEqual(walked.frameworks, [name]);
      for (const stage of [
        'routing',
        'jsonParser',
        'requestId',
        'router',
        'GET /feed',
        'authorise',
        'verify',
        'feed',
        'loadItems',
        'price',
        'write answer',
      ]) {
        assert.ok(walked.names.includes(stage), `${stage} is not among ${walked.names.join(', ')}`);
      }
    });
  }

  for (const version of first('express-4', 'express')) {
    test(`routers and routes of ${version} go by their paths`, async () => {
      const walked = await walk('express.cjs', '/api/items/7', { EXPRESS: version });
      assertEndsEverywhere(walked);
      const names = walked.names.filter((name) => /\/|route/.test(name));
      assert.deepEqual(names, ['router', 'router /api', 'router /items', 'GET /:id']);
    });
  }

  for (const loader of ['require', 'import']) {
    test(`TypeScript that a loader of its own compiles for ${loader}, by the lines it was written in`, async () => {
      const walked = await walk('compiled.cjs', '/', { LOADER: loader });
      assertEndsEverywhere(walked);
      const file = loader === 'require' ? 'priced.ty' : 'listed.ty';
      const places = walked.commonPath.stages.map(({ name, place }) => `${name} ${place}`);
      for (const stage of [
        `Catalog.feed ${file}:16`,
        `Catalog.feed after await :17 ${file}:17`,
        `Catalog.render ${file}:21`,
      ]) {
        assert.ok(places.includes(stage), `${stage} is not among ${places.join(', ')}`);
      }
      assert.deepEqual(walked.unreadable, []);
    });
  }

  test('a bundle: what it has of packages is theirs, and a request that ends below them is stopped', async () => {
    const walked = await walk('bundled-orm.cjs', '/');
    assertEndsEverywhere(walked);
    const { stages } = walked.commonPath;
    assert.deepEqual(
      stages.map(({ name, place }) => [name, place]),
      [
        ['getOrders', 'src/main.js:5'],
        ['getOrders after await :6', 'src/main.js:6'],
        ['present', 'src/main.js:2'],
        ['write answer', ''],
      ],
    );
    assert.deepEqual(
      stages[0]!.calls.map(({ name }) => name),
      ['some-orm'],
    );
  });

  test('Koa: middleware on the way in and on the way out', async () => {
    const walked = await walk('koa.mjs', '/feed');
    assertEndsEverywhere(walked);
    assert.deepEqual(walked.names, [
      'routing',
      'timing',
      'plain',
      'check',
      'middleware',
      'build',
      'app.use(…) after await :14',
      'timing after await :6',
      'stamp',
      'write answer',
    ]);
  });

  test('Fastify: hooks of the app, of a plugin and of a route, handler and answer', async () => {
    const walked = await walk('fastify.mjs', '/feed');
    assertEndsEverywhere(walked);
    assert.deepEqual(walked.names, [
      'routing',
      'identify',
      'limit',
      'limit after await :10',
      'preHandler',
      'verify',
      'feed',
      'load',
      'reply.send',
      'stamp',
      'write answer',
    ]);
  });

  for (const path of first('/orders', '/single')) {
    test(`a pool has all its clients back, whatever stage of ${path} requests ended at`, async () => {
      const walked = await walk(
        'pool.cjs',
        path,
        {},
        {
          times: 12,
          // A transaction that was left is rolled back first.
          afterCut: async (port) => {
            let free = 0;
            while (free < 8) {
              const answer = await fetch(`http://127.0.0.1:${port}/free`);
              ({ free } = (await answer.json()) as { free: number });
            }
          },
        },
      );
      assertEndsEverywhere(walked);
      const wanted =
        path === '/single'
          ? [
              'loadSession',
              'getSingle',
              'getSingle after await',
              'readRows',
              'countRows',
              'present',
            ]
          : ['loadSession', 'loadSession after await', 'inTransaction', 'findOrders', 'price'];
      for (const stage of [...wanted, 'write answer']) {
        assert.ok(
          walked.names.some((name) => name.startsWith(stage)),
          `${stage} is not among ${walked.names.join(', ')}`,
        );
      }
    });
  }

  for (const platform of first('fastify', 'express')) {
    test(`Nest on ${platform}: middleware, guard, interceptor, pipe, handler, serialisation`, async () => {
      const walked = await walk('nest.mjs', '/products/4', { PLATFORM: platform });
      assertEndsEverywhere(walked);
      assert.ok(walked.frameworks.includes('Nest'));
      const wanted = [
        'tagging',
        'SignedIn.canActivate',
        'check',
        'MixinRoleGuard.canActivate',
        'Envelope.intercept',
        'ParseIntPipe',
        'ProductController.findProduct',
        'Prices.priceOf',
        'wrapData',
        'serialise and reply',
        'write answer',
      ];
      assert.deepEqual(
        walked.names.filter((name) => wanted.includes(name)),
        wanted,
      );
    });
  }
});
