// Attributes and parents of requests are those that OpenTelemetry's own packages find in the same bytes, which Node parses.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { defaultTextMapGetter, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { type Collector, loadAddon } from '../native.cjs';
import { decodeSpans } from './decode.ts';
import { Ring } from './write.ts';

interface Utils {
  getIncomingRequestAttributes(
    request: IncomingMessage,
    options: { component: string; redactedQueryParams: string[] },
    logger: { verbose(): void },
  ): Record<string, unknown>;
}
const index = import.meta.resolve('@opentelemetry/instrumentation-http');
const utils = (await import(new URL('utils.mjs', index).href)) as Utils;
const propagator = new W3CTraceContextPropagator();
const redacted = ['sig', 'X-Amz-Signature'];

const collector = ((): Collector | undefined => {
  try {
    return new (loadAddon().Collector)({
      resource: [],
      maxBytes: 1 << 24,
      sampler: 'always_on',
      ratio: 1,
      isParentBased: false,
      attributeCountLimit: 128,
      attributeValueLengthLimit: 0xffffffff,
      redactedParameters: redacted,
      boundaries: [],
      isDelta: false,
    });
  } catch {
    return undefined;
  }
})();
const ring = new Ring(1 << 20);
collector?.addSource(null, ring.words);

interface Expected {
  readonly attributes: Record<string, unknown>;
  readonly traceId?: string;
  readonly parentId?: string;
  readonly traceState?: string;
}
let expected: Expected;
const server = createServer((request, response) => {
  const attributes = utils.getIncomingRequestAttributes(
    request,
    { component: 'http', redactedQueryParams: redacted },
    { verbose() {} },
  );
  const context = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
  const parent = trace.getSpanContext(context);
  const traceState = parent?.traceState?.serialize();
  expected = {
    attributes: Object.fromEntries(
      Object.entries(attributes).filter(([, value]) => value !== undefined),
    ),
    ...(parent && { traceId: parent.traceId, parentId: parent.spanId }),
    ...(traceState && { traceState }),
  };
  response.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const { port } = server.address() as AddressInfo;

const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const heads: readonly string[] = [
  'GET / HTTP/1.1\r\nHost: shop.example\r\n',
  'GET / HTTP/1.0\r\n',
  'GET /a?b=c&sig=d HTTP/1.1\r\nhOST: shop.example:8080\r\nUSER-AGENT:\t x \r\n',
  'PURGE /x HTTP/1.1\r\nHost: a\r\n',
  'QUERY /x HTTP/1.1\r\nHost: a\r\n',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n',
  'GET http://other.example:99/p?q=1#f HTTP/1.1\r\nHost: a\r\n',
  'GET //x/y HTTP/1.1\r\nHost: a\r\n',
  'GET // HTTP/1.1\r\nHost: a\r\n',
  'GET /x HTTP/1.1\r\nHost: a:b\r\n',
  'GET /x HTTP/1.1\r\nHost: a:99999\r\n',
  'GET /x HTTP/1.1\r\nHost: [::1]:80\r\n',
  'GET /x HTTP/1.1\r\nHost: [::1]\r\n',
  'GET /x HTTP/1.1\r\nHost:\r\nUser-Agent:\r\n',
  'GET /x HTTP/1.1\r\nHost: 1.2.3.999\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: b\r\nX-Forwarded-Proto: https\r\nX-Forwarded-For: 192.0.2.1, 10.0.0.1\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: b\r\nX-Forwarded-Proto: https, http\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host:\r\nX-Forwarded-For:\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: b\r\nX-Forwarded-Host: c\r\nX-Forwarded-For: 1\r\nX-Forwarded-For: 2\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: [2001:DB8::0:1]:99\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 2001:db8::1\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: Unknown:80\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4.5\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for=192.0.2.60;proto=http;by=203.0.113.43;host=out\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: proto=https;host="out:443", for="[::1]:8"\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for="_x\\"y"\r\nForwarded: host=b;proto=https\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for=a b\r\nX-Forwarded-For: 192.0.2.1\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for=1 \t;host=2\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for=1;;host=2\r\n',
  'GET /x HTTP/1.1\r\nHost: a\r\nForwarded: for="";host=""\r\n',
  `GET /x HTTP/1.1\r\nHost: a\r\ntraceparent: ${parent}\r\ntracestate: a=1, b=2\r\ntracestate: c=3\r\n`,
  `GET /x HTTP/1.1\r\ntraceparent: ${parent}\r\nTraceParent: ${parent}\r\nHost: a\r\n`,
  `GET /x HTTP/1.1\r\nTRACEPARENT: ${parent}\r\nHost: a\r\ntracestate: A=1,b=2=3,c=4,c=5\r\n`,
  `GET /x HTTP/1.1\r\ntraceparent: ${parent.replace('00-', 'cc-')}-more\r\nHost: a\r\n`,
  `GET /x HTTP/1.1\r\ntraceparent: ${parent}-more\r\nHost: a\r\ntracestate: a=1\r\n`,
  `GET /x HTTP/1.1\r\ntraceparent: ${parent.replace('b7', 'B7')}\r\nHost: a\r\n`,
  'GET /x HTTP/1.1\r\nHost: a\r\nUser-Agent: \u00fc\r\n',
];

/** Targets that a URL shows in another way than they came. */
const targets = [
  '/a/../b/./c//d/',
  '/%2e%2E/x/.%2e/y',
  '/.well-known/..x/...',
  '/a b'.replace(' ', '%20'),
  '/"<>`{}|^\\x',
  "/a;b=c,d@e:f!$&'()*+",
  '/?',
  '/?&',
  '/?a',
  '/?a=1&&b=2&=3&c==4',
  "/?a=b%20c+d%2B&%61=~!*()'",
  '/?a=%zz%&b=%ff%C3%A9%e2%82',
  '/?sig=1&a=2&sig=3&X-Amz-Signature',
  '/?%73ig=1&Sig=2',
  '/?a="<>#b',
  '/x#y?z',
  '/[x]/_~-.',
];

describe(
  'a span has what OpenTelemetry finds in a request:',
  { skip: collector === undefined && 'no addon is built here' },
  () => {
    const all = [...heads, ...targets.map((each) => `GET ${each} HTTP/1.1\r\nHost: a\r\n`)];
    for (const [number, head] of all.entries())
      test(JSON.stringify(head), () => check(number, head));

    test('any bytes in the places that are read', async (t) => {
      const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
      t.diagnostic(`SEED=${seed}`);
      const next = random(seed);
      for (let round = 0; round < 300; round++) await check(1_000 + round, anyHead(next));
    });
  },
);

const pieces: Readonly<Record<string, readonly string[]>> = {
  target: [
    '/',
    'a',
    '..',
    '.',
    '%2e',
    '?',
    '&',
    '=',
    'sig',
    '%20',
    '+',
    '%',
    ';',
    '*',
    '#',
    '~',
    "'",
  ],
  host: ['a', '.b', ':', '80', '[::1]', '[', '1.2', '.3.4', ' ', '_', '-', '0x7f'],
  forwarded: [
    'for',
    'host',
    'proto',
    '=',
    '"',
    ';',
    ',',
    ' ',
    'a',
    '[::1]:8',
    '\\',
    '1.2.3.4',
    'https',
  ],
  traceparent: [
    '00',
    'cc',
    '-',
    '0af7651916cd43dd8448eb211c80319c',
    'b7ad6b7169203331',
    '01',
    '0',
    'f',
  ],
  tracestate: ['a', '=', ',', '1', '@', ' ', 'b', '-', 'A', '\t'],
};

/** Returns a head of pieces that mean something to a parser. */
function anyHead(next: (below: number) => number): string {
  const some = (kind: string): string => {
    const list = pieces[kind]!;
    return Array.from({ length: next(8) }, () => list[next(list.length)]!).join('');
  };
  const names = {
    host: 'host',
    'x-forwarded-host': 'host',
    'x-forwarded-for': 'host',
    'x-forwarded-proto': 'forwarded',
    forwarded: 'forwarded',
    traceparent: 'traceparent',
    tracestate: 'tracestate',
  };
  const lines = Object.entries(names).flatMap(([name, kind]) =>
    next(2) === 0 && name !== 'host' ? [] : [`${name}: ${some(kind).trim()}\r\n`],
  );
  return `GET /${some('target')} HTTP/1.1\r\n${lines.join('')}`;
}

/** Returns a function of numbers below a bound, the same for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function check(number: number, head: string): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const { localPort } = socket;
  const responded = once(socket, 'data');
  socket.write(Buffer.from(`${head}Connection: close\r\n\r\n`, 'latin1'));
  const [response] = (await responded) as [Buffer];
  socket.destroy();
  assert.match(response.toString(), /^HTTP\/1\.1 200 /, 'Node has refused it');
  const place = [number + 1, 1, 1] as const;
  ring.peer(place, '127.0.0.1', localPort!);
  const [line, ...rest] = head.split('\r\n');
  const [, plain, version] = /^(.*) HTTP\/1\.(\d)$/.exec(line!)!;
  ring.begin(place, [plain, ...rest].join('\r\n'), version === '0' ? 1 : 0);
  ring.end(place, 200);
  collector!.drain();
  const [span] = decodeSpans(collector!.takeSpans(1 << 20, 10)!).spans;
  const { 'http.response.status_code': status, ...attributes } = span!.attributes;
  assert.equal(status, 200);
  const found: Expected = {
    attributes,
    ...(span!.parentId !== '' && { traceId: span!.traceId, parentId: span!.parentId }),
    ...(span!.traceState !== '' && { traceState: span!.traceState }),
  };
  try {
    assert.deepEqual(found, expected);
  } catch (cause) {
    throw new Error(`for ${JSON.stringify(head)}`, { cause });
  }
}
