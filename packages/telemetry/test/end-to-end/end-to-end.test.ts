import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { findAddon } from '../../src/native/addon.ts';
import { decodeMetrics, decodeSpans, type Span } from '../decode.ts';
import { Receiver } from '../receiver.ts';
import { until } from '@redline/services/until';
import { killApps, runApp } from './run-app.ts';

const addon = findAddon();
const hasEngine = process.platform === 'linux';
/** The maker of the spans, and the server. */
const ways: readonly {
  readonly name: string;
  readonly onEngine: boolean;
  readonly env: Record<string, string>;
  readonly needsAddon: boolean;
}[] = [
  { name: 'the addon, on the engine', onEngine: true, env: {}, needsAddon: true },
  { name: 'the addon, on Node', onEngine: false, env: {}, needsAddon: true },
  {
    name: 'the SDK, on Node',
    onEngine: false,
    env: { REDLINE_TELEMETRY: 'sdk' },
    needsAddon: false,
  },
];

let receiver: Receiver;

beforeEach(async () => {
  receiver = await new Receiver().start();
});

afterEach(async () => {
  killApps();
  await receiver.stop();
});

for (const { name, onEngine, env, needsAddon } of ways) {
  const reason = needsAddon && typeof addon === 'string' ? addon : !hasEngine && onEngine;
  describe(name, { skip: reason }, () => {
    for (const framework of ['express', 'fastify']) {
      test(`${framework}: spans of requests, and of the user's code below them`, async () => {
        const app = await runApp(framework, receiver, { onEngine, env });
        assert.equal(app.engine, onEngine ? 'native' : 'node');
        const response = await fetch(`${app.url}/api/v1/items/7?sig=secret&x=1`, {
          headers: {
            traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
            'user-agent': 'test',
          },
        });
        const active = (await response.json()) as { traceId: string; spanId: string };
        await (await fetch(`${app.url}/api/v1/broken`)).text();
        assert.equal(await app.stop(), 0);

        const request = spanNamed('GET /api/:version/items/:item');
        const work = spanNamed('work');
        assert.equal(request.traceId, '0af7651916cd43dd8448eb211c80319c');
        assert.equal(request.parentId, 'b7ad6b7169203331');
        assert.deepEqual(
          [request.kind, request.status.code, request.scope],
          [2, 0, '@redline/telemetry'],
        );
        assert.deepEqual([work.traceId, work.parentId], [request.traceId, request.spanId]);
        assert.deepEqual([work.scope, work.attributes], ['app', { step: 1 }]);
        assert.equal(active.spanId, work.spanId);
        assert.ok(request.start <= work.start, 'the request starts first');
        assert.ok(work.end <= request.end, 'the request ends last');
        const { body } = receiver.received.find(({ path }) => path === '/v1/traces')!;
        assert.equal(decodeSpans(body).resource['service.name'], 'shop');
        const port = Number(new URL(app.url).port);
        const { 'network.peer.port': peerPort, ...attributes } = request.attributes;
        assert.equal(typeof peerPort, 'number');
        assert.deepEqual(attributes, {
          'client.address': '127.0.0.1',
          'http.request.method': 'GET',
          'http.response.status_code': 200,
          'http.route': '/api/:version/items/:item',
          'network.peer.address': '127.0.0.1',
          'network.protocol.version': '1.1',
          'server.address': '127.0.0.1',
          'server.port': port,
          'url.path': '/api/v1/items/7',
          'url.query': 'sig=REDACTED&x=1',
          'url.scheme': 'http',
          'user_agent.original': 'test',
        });

        const broken = spanNamed('GET /api/:version/broken');
        assert.deepEqual([broken.status.code, broken.attributes['error.type']], [2, '500']);
        assert.notEqual(broken.traceId, request.traceId);
        assert.equal(spans().length, 3);

        const found = pointsOf('http.server.request.duration').map(({ attributes: of, count }) => {
          const known = of as Record<string, unknown>;
          const names = [
            'http.route',
            'http.response.status_code',
            'http.request.method',
            'error.type',
          ];
          return [...names.map((each) => known[each]), count];
        });
        assert.deepEqual(found.sort(), [
          ['/api/:version/broken', 500, 'GET', '500', 1n],
          ['/api/:version/items/:item', 200, 'GET', undefined, 1n],
        ]);
        assert.deepEqual(pointsOf('app.orders'), [
          { attributes: { kind: 'book' }, count: 1n, buckets: [] },
        ]);
      });
    }

    test('what was recorded before SIGTERM is sent, and the process ends by it', async () => {
      const app = await runApp('node', receiver, {
        onEngine,
        env: { ...env, OTEL_BSP_SCHEDULE_DELAY: '60000' },
      });
      await (await fetch(app.url)).text();
      assert.equal(await app.stop('SIGTERM'), 'SIGTERM');
      assert.deepEqual(
        spans()
          .map(({ name: of }) => of)
          .sort(),
        ['GET', 'work'],
      );
    });

    test('a client that leaves before the response: its request has a span', async () => {
      const app = await runApp('node', receiver, { onEngine, env });
      const { hostname, port } = new URL(app.url);
      const client = connect(Number(port), hostname);
      client.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
      await once(client, 'connect');
      // One that has a response: the first was received before.
      await (await fetch(app.url)).text();
      client.destroy();
      await until('both spans', () => spans().filter(({ kind }) => kind === 2).length === 2);
      const left = spans().find(({ attributes }) => attributes['url.path'] === '/never');
      assert.equal(left?.name, 'GET');
      assert.equal(await app.stop(), 0);
    });

    test('metrics alone: no span is sent', async () => {
      const app = await runApp('node', receiver, {
        onEngine,
        env: { ...env, OTEL_TRACES_EXPORTER: 'none' },
      });
      for (let request = 0; request < 10; request++) await (await fetch(app.url)).text();
      assert.equal(await app.stop(), 0);
      assert.deepEqual(spans(), []);
      const [point] = pointsOf('http.server.request.duration');
      assert.equal(point!.count, 10n);
    });

    test('spans that a receiver refuses for a while are sent once it takes them', async () => {
      receiver.respond = (response) => response.writeHead(503).end();
      const app = await runApp('node', receiver, {
        onEngine,
        env: { ...env, OTEL_METRICS_EXPORTER: 'none', OTEL_EXPORTER_OTLP_TIMEOUT: '500' },
      });
      await (await fetch(app.url)).text();
      await until('a refused batch', () => receiver.received.length > 0);
      const refused = receiver.received.length;
      receiver.respond = (response) => response.writeHead(200).end();
      // The SDK's own processor drops what failed.
      if (needsAddon) {
        const names = (): string[] => spans(refused).map(({ name: of }) => of);
        // The second may have ended after the first batch was taken.
        await until('both spans', () => names().length >= 2);
        assert.deepEqual(names().sort(), ['GET', 'work']);
      }
      assert.equal(await app.stop(), 0);
    });

    test("Prometheus' page has the metrics of HTTP and of the user's meters, and not its own", async () => {
      const port = await freePort();
      const app = await runApp('express', receiver, {
        onEngine,
        env: {
          ...env,
          OTEL_TRACES_EXPORTER: 'none',
          OTEL_METRICS_EXPORTER: 'prometheus',
          OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
        },
      });
      for (let item = 0; item < 10; item++) {
        await (await fetch(`${app.url}/api/v1/items/${item}`)).text();
      }
      const page = `http://127.0.0.1:${port}/metrics`;
      assert.equal((await fetch(`http://127.0.0.1:${port}/other`)).status, 404);
      await fetch(page);
      const response = await fetch(page);
      assert.match(response.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
      const text = await response.text();
      const counts = text.match(/^http_server_request_duration(?:_seconds)?_count\{.*$/gm);
      assert.equal(counts?.length, 1, text);
      assert.match(counts![0]!, /http_route="\/api\/:version\/items\/:item".*\} 10$/);
      assert.match(text, /^app_orders_total\{kind="book".*\} 10$/m);
      assert.deepEqual(text.match(/^target_info\{.*service_name="shop".*\} 1$/gm)?.length, 1, text);
      assert.equal(await app.stop(), 0);
      assert.deepEqual(receiver.received, []);
    });

    test('always_off: the context of a request is there, and no span is sent', async () => {
      const app = await runApp('node', receiver, {
        onEngine,
        env: { ...env, OTEL_TRACES_SAMPLER: 'always_off', OTEL_METRICS_EXPORTER: 'none' },
      });
      const active = (await (await fetch(app.url)).json()) as { traceFlags: number };
      assert.equal(active.traceFlags, 0);
      assert.equal(await app.stop(), 0);
      assert.deepEqual(spans(), []);
    });
  });
}

describe('at start', () => {
  test('loaded twice, it starts once', async () => {
    const app = await runApp('node', receiver, {
      onEngine: false,
      env: { NODE_OPTIONS: '--import @redline/telemetry/register' },
    });
    await (await fetch(app.url)).text();
    assert.equal(await app.stop(), 0);
    assert.deepEqual(
      spans()
        .map(({ name }) => name)
        .sort(),
      ['GET', 'work'],
    );
  });

  test('OTEL_SDK_DISABLED: nothing is sent', async () => {
    const app = await runApp('node', receiver, {
      onEngine: false,
      env: { OTEL_SDK_DISABLED: 'true' },
    });
    await (await fetch(app.url)).text();
    assert.equal(await app.stop(), 0);
    assert.deepEqual(receiver.received, []);
  });

  test('an unknown value ends the process with an error that names it', async () => {
    await assert.rejects(
      runApp('node', receiver, { onEngine: false, env: { OTEL_TRACES_EXPORTER: 'otpl' } }),
      /TelemetryError: OTEL_TRACES_EXPORTER=otpl is invalid: use otlp, console, none/,
    );
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function spans(from = 0): Span[] {
  const traces = receiver.received.slice(from).filter(({ path }) => path === '/v1/traces');
  return traces.flatMap(({ body }) => decodeSpans(body).spans);
}

function spanNamed(name: string): Span {
  const found = spans().filter((span) => span.name === name);
  assert.equal(
    found.length,
    1,
    `${name} of ${spans()
      .map((span) => span.name)
      .join(', ')}`,
  );
  return found[0]!;
}

type Points = ReturnType<typeof decodeMetrics>[string];

/** The points of a metric as they were sent last. */
function pointsOf(name: string): Points {
  const all = receiver.received.filter(({ path }) => path === '/v1/metrics');
  const found = all.flatMap(({ body }) => decodeMetrics(body)[name] ?? []);
  assert.ok(found.length > 0, `${name} was not sent`);
  return decodeMetrics(all.at(-1)!.body)[name]!;
}
