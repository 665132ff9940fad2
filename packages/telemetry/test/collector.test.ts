// The addon from end to end: rings that JavaScript makes, and the bytes that an OTLP receiver gets.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Collector, loadAddon } from '../native.cjs';
import { BEGIN, CHANGE, KIND, RING, VALUE } from '../src/native/wire.ts';
import { decodeMetrics, decodeSpans, type Span } from './decode.ts';
import { type Place, Ring, text, time } from './write.ts';

const native = ((): ReturnType<typeof loadAddon> | undefined => {
  try {
    return loadAddon();
  } catch {
    return undefined;
  }
})();

const settings = {
  resource: [
    { key: 'service.name', text: 'shop' },
    { key: 'process.pid', number: 7 },
    { key: 'is.test', isTrue: true },
    { key: 'process.command_args', texts: ['node', 'app.js'] },
  ],
  maxBytes: 1 << 20,
  sampler: 'always_on',
  ratio: 1,
  isParentBased: true,
  attributeCountLimit: 128,
  attributeValueLengthLimit: 0xffffffff,
  redactedParameters: ['sig'],
  boundaries: [0.005, 0.01, 10],
  isDelta: false,
};

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('a collector', { skip: native === undefined && 'no addon is built here' }, () => {
  const collector = native === undefined ? undefined! : new native.Collector(settings);

  test('makes the span of a request from its facts', () => {
    using source = addSource(collector);
    const { engine, own } = source;
    const place: Place = [3, 1, 1];
    engine.peer(place, '192.0.2.7', 4711);
    own.numbered(KIND.ROUTE, 5, '/users/:id');
    engine.begin(
      place,
      `GET /users/1?sig=secret&a=b%20c\r\nHost: shop.example:8080\r\nUser-Agent: probe\r\ntraceparent: ${parent}\r\ntracestate: a=1\r\n`,
    );
    engine.end(place, 503, 5);
    const { resource, spans } = taken(collector);
    assert.deepEqual(resource, {
      'service.name': 'shop',
      'process.pid': 7,
      'is.test': true,
      'process.command_args': ['node', 'app.js'],
    });
    const [{ start, end, spanId, ...span }] = spans as [Span];
    assert.match(spanId, /^(?!0{16})[\da-f]{16}$/);
    assert.ok(start <= end && Math.abs(Number(end / 1_000_000n) - Date.now()) < 60_000);
    assert.deepEqual(span, {
      scope: '@redline/telemetry',
      traceId: parent.slice(3, 35),
      parentId: parent.slice(36, 52),
      traceState: 'a=1',
      name: 'GET /users/:id',
      kind: 2,
      attributes: {
        'http.request.method': 'GET',
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
        'user_agent.original': 'probe',
        'server.address': 'shop.example',
        'server.port': 8080,
        'network.peer.address': '192.0.2.7',
        'network.peer.port': 4711,
        'client.address': '192.0.2.7',
        'url.path': '/users/1',
        'url.query': 'sig=REDACTED&a=b+c',
        'http.response.status_code': 503,
        'http.route': '/users/:id',
        'error.type': '503',
      },
      events: [],
      links: [],
      status: { code: 2, message: '' },
      flags: 0x301,
    });
  });

  test('makes a span of a server that JavaScript reports, and changes it', () => {
    using source = addSource(collector, false);
    const { own } = source;
    const place: Place = [1, 1, 1];
    own.numbered(KIND.TEXT, 1, 'user.id');
    own.begin(place, 'POST /orders\r\n', BEGIN.IS_TLS | BEGIN.HTTP_10);
    const change = (...words: number[]): void => own.put(KIND.CHANGE, [...place, ...words]);
    change(CHANGE.ATTRIBUTES, 2, 1 * 2 + 1, VALUE.INTEGER, 42, 0, ...text('ok'), VALUE.TRUE);
    change(CHANGE.NAME, ...text('order'));
    change(CHANGE.STATUS, 2, ...text('failed'));
    change(
      CHANGE.EVENT,
      ...time(),
      ...text('exception'),
      1,
      ...text('é'),
      VALUE.TEXT,
      ...text('ü'),
    );
    change(CHANGE.LINK, 1, 2, 3, 4, 5, 6, 0x101, ...text(''), 0);
    own.end(place, 201);
    const [span] = taken(collector).spans as [Span];
    assert.equal(span.name, 'order');
    assert.deepEqual(span.status, { code: 2, message: 'failed' });
    assert.deepEqual(span.attributes, {
      'http.request.method': 'POST',
      'url.scheme': 'https',
      'network.protocol.version': '1.0',
      'url.path': '/orders',
      'user.id': 42,
      ok: true,
      'http.response.status_code': 201,
    });
    assert.deepEqual(span.events, [{ name: 'exception', attributes: { é: 'ü' } }]);
    assert.deepEqual(span.links, [{ traceId: '00000001000000020000000300000004', attributes: {} }]);
    assert.equal(span.flags, 0x101);
  });

  test('passes on spans that JavaScript has ended', () => {
    using source = addSource(collector);
    const { own } = source;
    own.numbered(KIND.TEXT, 1, 'shop\x001.0\0');
    const array = [VALUE.ARRAY, 3, VALUE.TEXT, ...text('a'), VALUE.NOTHING, VALUE.FALSE];
    const half = [VALUE.DOUBLE, 0, 0x3fe00000];
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    const names = [text('query'), 1 * 2 + 1, text(''), text('b=2')];
    const attributes = [2, text('list'), array, text('half'), half];
    const none = [0, 0, 0, 0, 0];
    const words = [ids, 3, 1, 0x101, time(), time(), names, attributes, none];
    own.put(KIND.SPAN, words.flat(2));
    const [span] = taken(collector).spans as [Span];
    const { scope, traceId, spanId, parentId, traceState, name, kind, status } = span;
    assert.deepEqual(
      { scope, traceId, spanId, parentId, traceState, name, kind, status },
      {
        scope: 'shop',
        traceId: '00000001000000020000000300000004',
        spanId: '0000000500000006',
        parentId: '0000000700000008',
        traceState: 'b=2',
        name: 'query',
        kind: 3,
        status: { code: 1, message: '' },
      },
    );
    assert.deepEqual(span.attributes, { list: ['a', undefined, false], half: 0.5 });
  });

  test('counts requests for OTLP and for Prometheus', () => {
    using source = addSource(collector);
    const { engine } = source;
    const before = collector.counts().requests;
    for (const [slot, status] of [
      [1, 204],
      [2, 204],
    ] as const) {
      engine.begin([slot, 1, 1], 'DELETE /\r\n');
      engine.end([slot, 1, 1], status);
    }
    engine.begin([3, 1, 1], 'DELETE /\r\n');
    collector.drain();
    assert.equal(collector.counts().requests, before + 3);
    assert.equal(taken(collector).spans.length, 2);
    const metrics = decodeMetrics(collector.takeMetrics()!);
    const method = { 'http.request.method': 'DELETE', 'url.scheme': 'http' };
    const points = metrics['http.server.request.duration']!;
    assert.deepEqual(
      points.filter(({ attributes }) => 'DELETE' === Object.values(attributes)[0]),
      [
        {
          attributes: {
            ...method,
            'network.protocol.version': '1.1',
            'http.response.status_code': 204,
          },
          count: 2n,
          buckets: [2n, 0n, 0n, 0n],
        },
      ],
    );
    assert.deepEqual(
      metrics['http.server.active_requests']!.find(
        ({ attributes }) => 'DELETE' === Object.values(attributes)[0],
      ),
      { attributes: method, count: 1n, buckets: [] },
    );
    const lines = collector.prometheus().split('\n');
    const labels =
      'otel_scope_name="@redline/telemetry",http_request_method="DELETE",url_scheme="http",network_protocol_version="1.1",http_response_status_code="204"';
    assert.ok(lines.includes(`http_server_request_duration_seconds_count{${labels}} 2`));
    assert.ok(
      lines.includes(
        'target_info{service_name="shop",process_pid="7",is_test="true",process_command_args="[\\"node\\",\\"app.js\\"]"} 1',
      ),
    );
  });

  test('reads by itself', async () => {
    using source = addSource(collector);
    const { engine } = source;
    engine.begin([1, 1, 1], 'GET /by-itself\r\n');
    engine.end([1, 1, 1], 200);
    while (collector.counts().waitingSpans === 0) await setTimeout(1);
    assert.equal(taken(collector, false).spans[0]!.attributes['url.path'], '/by-itself');
    while (engine.words[RING.SLEEPS] !== 1) await setTimeout(1);
    engine.begin([1, 1, 2], 'GET /awake\r\n');
    engine.end([1, 1, 2], 200);
    collector.wake();
    while (collector.counts().waitingSpans === 0) await setTimeout(1);
    assert.equal(taken(collector, false).spans[0]!.attributes['url.path'], '/awake');
  });

  test('refuses what is no ring', () => {
    const own = new Ring().words;
    assert.throws(() => collector.addSource(null, new Uint32Array(5)), {
      message: '`own` is not a ring of this version: it has 5 words',
    });
    assert.throws(() => collector.addSource(new Uint8Array(5) as never, own), {
      message: '`engine` must be a Uint32Array',
    });
    assert.throws(() => new native!.Collector({ ...settings, sampler: 'some' }), {
      message: '`sampler` must be always_on, always_off or ratio; got some',
    });
    assert.throws(() => new native!.Collector({ ...settings, boundaries: [1, 1] }), {
      message: '`boundaries` must ascend; got [1.0, 1.0]',
    });
  });

  test('gets the spans of workers that end', async () => {
    const program = new URL('collector-worker.ts', import.meta.url);
    const workers = Array.from({ length: 3 }, () => new Worker(program, { workerData: settings }));
    await Promise.all(workers.map((worker) => once(worker, 'exit')));
    const paths = taken(collector).spans.map(({ attributes }) => attributes['url.path']);
    assert.deepEqual(paths, Array(3).fill('/worker'));
  });

  test('survives workers that are ended while they write', async () => {
    const program = new URL('collector-worker.ts', import.meta.url);
    const before = collector.counts().requests;
    for (let round = 0; round < 10; round++) {
      const worker = new Worker(program, { workerData: { ...settings, isBusy: true } });
      await once(worker, 'message');
      collector.drain();
      await worker.terminate();
    }
    assert.ok(collector.counts().requests >= before + 10);
    assert.ok(taken(collector).spans.length >= 10);
  });

  test('lets the process end', () => {
    const program = new URL('collector-worker.ts', import.meta.url).pathname;
    const env = { ...process.env, SETTINGS: JSON.stringify(settings) };
    assert.equal(execFileSync(process.execPath, [program], { env, encoding: 'utf8' }), 'ended\n');
  });
});

/** Adds new rings. They are removed when it is disposed of. */
function addSource(
  collector: Collector,
  hasEngine = true,
): Disposable & { engine: Ring; own: Ring } {
  const engine = new Ring();
  const own = new Ring();
  const source = collector.addSource(hasEngine ? engine.words : undefined, own.words);
  return { engine, own, [Symbol.dispose]: () => collector.removeSource(source) };
}

function taken(collector: Collector, isDrained = true): ReturnType<typeof decodeSpans> {
  if (isDrained) collector.drain();
  const request = collector.takeSpans(1 << 20, 1_000);
  assert.ok(request !== null);
  return decodeSpans(request);
}
