import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
// Built: the preload is loaded by the servers under test, whatever started them.
import { Session } from '../../dist/stairs/session.js';
import { findSpine, type Spine } from '../../dist/stairs/spine.js';
import type { StairsTarget } from '../../dist/stairs/target.js';
import { startCut, traceRequest } from '../../dist/stairs/trace-request.js';
import { send } from '../../dist/servers/contract.js';
import { pinSelf } from '../../dist/system/pinning.js';

const whole = 100_000;

function targetOf(app: string, path: string, env: Record<string, string> = {}): StairsTarget {
  const file = fileURLToPath(new URL(`./apps/${app}`, import.meta.url));
  return {
    scenario: app,
    title: app,
    variant: {
      name: app,
      note: undefined,
      beside: false,
      command: [process.execPath, file],
      cwd: fileURLToPath(new URL('./apps', import.meta.url)),
      env,
      port: undefined,
      probe: undefined,
    },
    request: { method: 'GET', path, headers: {}, body: '', compare: 'body', timed: true },
    replayed: undefined,
    asked: `GET ${path}`,
    connections: 4,
    pin: false,
    readyTimeoutMs: 60_000,
    setup: undefined,
    redirectFrom: undefined,
  };
}

interface Walked {
  spine: Spine;
  names: string[];
  frameworks: string[];
  unreadable: string[];
  /** What came back from every cut, and afterwards from the whole request. */
  cuts: { name: string; status: number; body: string; stubs: number }[];
  before: string;
  after: string;
  /** What the app wrote to standard error: an ended request must not look like a failed one. */
  complaints: string;
}

/** Traces a request of an app, then ends requests at each of its stages. */
async function walk(
  app: string,
  path: string,
  env?: Record<string, string>,
  { times = 1, afterCut }: { times?: number; afterCut?: (port: number) => Promise<void> } = {},
): Promise<Walked> {
  const target = targetOf(app, path, env);
  const context = { env: {}, pinning: pinSelf(false), signal: AbortSignal.timeout(100_000) };
  const traces = await traceRequest(target, context);
  const spine = findSpine(traces);
  await using session: Session = await startCut(target, spine, [...spine.stages.keys()], context);
  const ask = async (): Promise<{ status: number; body: string }> => {
    const { status, body } = await send(session.server, target.request, 20_000);
    return { status, body: body.toString() };
  };
  const before = (await ask()).body;
  const cuts: Walked['cuts'] = [];
  for (const [cut, { name }] of spine.stages.entries()) {
    const held = await session.ask({ type: 'hold', cut }, 'held');
    let answer = await ask();
    for (let count = 1; count < times; count++) answer = await ask();
    const { stubs } = await session.ask({ type: 'hold', cut: whole }, 'held');
    cuts.push({ name, ...answer, stubs: (stubs - held.stubs) / times });
    await afterCut?.(session.server.port);
  }
  const after = (await ask()).body;
  const failure = await session.server.failure('was asked');
  return {
    spine,
    names: spine.stages.map(({ name }) => name),
    frameworks: traces[0]!.frameworks,
    unreadable: traces[0]!.unreadable,
    cuts,
    before,
    after,
    complaints: failure.message.split('. ').slice(1).join('. '),
  };
}

function assertEndsEverywhere({ cuts, before, after, complaints }: Walked): void {
  for (const { name, status, body, stubs } of cuts) {
    assert.deepEqual({ name, status, body, stubs }, { name, status: 200, body: '', stubs: 1 });
  }
  assert.notEqual(before, '');
  assert.equal(after, before);
  assert.doesNotMatch(complaints, /rror|RedlineCut/);
}

describe('a request can be ended at every stage, and the app does not notice', () => {
  test('functions on node:http, as modules', async () => {
    const walked = await walk('chain.mjs', '/feed');
    assertEndsEverywhere(walked);
    // prettier-ignore
    assert.deepEqual(walked.names, ['handle', 'parse', 'authorise', 'select', 'price', 'rank', 'render', 'send', 'write answer']);
    assert.equal(walked.spine.followsAsync, false);
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
    assert.deepEqual(walked.spine.afterAnswer, ['afterwards']);
    assert.equal(walked.spine.followsAsync, true);
  });

  for (const [version, name] of [
    ['express', 'Express 5'],
    ['express-4', 'Express 4'],
  ] as const) {
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

  for (const version of ['express', 'express-4']) {
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
      const places = walked.spine.stages.map(({ name, place }) => `${name} ${place}`);
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

  for (const path of ['/orders', '/single']) {
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

  for (const platform of ['express', 'fastify']) {
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
