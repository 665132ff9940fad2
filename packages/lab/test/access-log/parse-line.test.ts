import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LineParser } from '../../src/access-log/parse-line.ts';

const parse = (line: string): unknown => new LineParser().parse(line);

describe('a line of an access log', () => {
  test('of pino-http tells of a request by itself', () => {
    const line = JSON.stringify({
      level: 30,
      time: 1_763_632_800_000,
      req: { id: 1, method: 'GET', url: '/users/1?x=2' },
      res: { statusCode: 200 },
      responseTime: 3.5,
    });
    assert.deepEqual(parse(line), {
      method: 'GET',
      path: '/users/1?x=2',
      status: 200,
      durationMs: 3.5,
      time: 1_763_632_800_000,
    });
  });

  test('of Fastify takes two, told together by the id', () => {
    const parser = new LineParser();
    const incoming = { time: 5, reqId: 'req-1', req: { method: 'POST', url: '/orders' } };
    const other = { time: 6, reqId: 'req-2', req: { method: 'GET', url: '/x' } };
    const completed = { time: 9, reqId: 'req-1', res: { statusCode: 201 }, responseTime: 4 };
    assert.equal(parser.parse(JSON.stringify(incoming)), 'other');
    assert.equal(parser.parse(JSON.stringify(other)), 'other');
    assert.deepEqual(parser.parse(JSON.stringify(completed)), {
      method: 'POST',
      path: '/orders',
      time: 5,
      status: 201,
      durationMs: 4,
    });
  });

  test('of nginx and Apache is read with and without a duration', () => {
    const plain =
      '10.0.0.1 - ann [20/Nov/2026:10:00:00 +0100] "GET /a?b=c HTTP/1.1" 304 - "-" "curl \\"8\\""';
    const time = Date.parse('2026-11-20T09:00:00Z');
    const request = { method: 'GET', path: '/a?b=c', status: 304, time };
    assert.deepEqual(parse(plain), request);
    assert.deepEqual(parse(`${plain} 0.012`), { ...request, durationMs: 12 });
    assert.deepEqual(parse(`${plain} 2500`), { ...request, durationMs: 2.5 });
    assert.deepEqual(
      parse('::1 - - [20/Nov/2026:10:00:00 +0100] "GET http://h/a HTTP/1.1" 200 5'),
      {
        ...request,
        path: '/a',
        status: 200,
      },
    );
  });

  test('that is in order and of something else is not a fault', () => {
    assert.equal(parse('{"level":30,"msg":"Server listening"}'), 'other');
    assert.equal(parse(''), 'other');
  });

  test('that cannot be read is said to be so', () => {
    for (const line of ['{"level":30,"req', 'Server listening on 3000', '1.2.3.4 - - GET /']) {
      assert.equal(parse(line), 'unreadable', line);
    }
  });
});

describe('a request is read as each of these writes it', () => {
  const dev = '\u001b[0mGET /users/1 \u001b[32m200\u001b[0m 9.4 ms - 10\u001b[0m';
  const nest =
    '\u001b[32m[Nest] 17  - \u001b[39m11/23/2026, 3:41:05 AM \u001b[32m    LOG\u001b[39m \u001b[38;5;3m[HTTP] \u001b[39m\u001b[32mGET /users/1 200 47ms\u001b[39m\u001b[38;5;3m +9ms\u001b[39m';
  const timestamp = '2026-11-23T03:40:57.834Z';
  for (const [writer, line, durationMs, isTimed] of [
    ['morgan dev', dev, 9.4, false],
    ['morgan tiny', 'GET /users/1 200 10 - 11.9 ms', 11.9, false],
    ['morgan short', '127.0.0.1 - GET /users/1 HTTP/1.1 200 10 - 9.05 ms', 9.05, false],
    [
      'morgan default',
      '::1 - - [Mon, 23 Nov 2026 03:40:57 GMT] "GET /users/1 HTTP/1.1" 200 10 "-" "-"',
      undefined,
      true,
    ],
    ['winston simple', '\u001b[32mhttp\u001b[39m: GET /users/1 200 10 - 73.3 ms', 73.3, false],
    ['winston printf', `${timestamp} http: ${dev}`, 9.4, true],
    [
      'winston JSON',
      JSON.stringify({ level: 'http', message: 'GET /users/1 200 10 - 9.1 ms\n', timestamp }),
      9.1,
      true,
    ],
    [
      'winston fields',
      JSON.stringify({
        level: 'info',
        message: 'done',
        method: 'GET',
        url: '/users/1',
        status: 200,
        duration: '12ms',
        timestamp,
      }),
      12,
      true,
    ],
    [
      'express-winston',
      JSON.stringify({
        message: 'HTTP GET /users/1',
        meta: {
          req: { method: 'GET', url: '/users/1' },
          res: { statusCode: 200 },
          responseTime: 14,
        },
        timestamp,
      }),
      14,
      true,
    ],
    ['express-winston in words', 'info: GET /users/1 200 12ms {"meta":{}}', 12, false],
    ['Nest', nest, 47, true],
    [
      'Nest JSON',
      JSON.stringify({
        level: 'log',
        pid: 1,
        timestamp: 1_795_405_265_000,
        message: 'GET /users/1 200 47ms',
        context: 'HTTP',
      }),
      47,
      true,
    ],
    [
      'Caddy',
      JSON.stringify({
        level: 'info',
        ts: 1_646_861_401.5,
        msg: 'handled request',
        request: { method: 'GET', uri: '/users/1' },
        duration: 0.0125,
        status: 200,
      }),
      12.5,
      true,
    ],
    [
      'nginx JSON',
      JSON.stringify({
        time_iso8601: '2026-10-10T13:55:36+00:00',
        request_method: 'GET',
        request_uri: '/users/1',
        status: '200',
        request_time: '0.020',
      }),
      20,
      true,
    ],
    [
      'nginx with names',
      '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /users/1 HTTP/1.1" 200 23 "-" "curl" rt=0.112 urt="0.010"',
      112,
      true,
    ],
    [
      'Apache with virtual hosts',
      'example.com:443 1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /users/1 HTTP/1.1" 200 23 "-" "curl" 12345',
      12.345,
      true,
    ],
  ] as const) {
    test(writer, () => {
      const { time, ...read } = parse(line) as { time?: number };
      const took = durationMs === undefined ? {} : { durationMs };
      assert.deepEqual(read, { method: 'GET', path: '/users/1', status: 200, ...took });
      assert.equal(time !== undefined, isTimed);
      assert.ok(time === undefined || time > 1.6e12);
    });
  }

  test('and what else a logger says is not a fault', () => {
    for (const line of [
      '\u001b[32minfo\u001b[39m: listening',
      '[Nest] 17  - 11/23/2026, 3:41:04 AM     LOG [App] started +9ms',
      `${timestamp} info: listening`,
    ]) {
      assert.equal(parse(line), 'other');
    }
  });
});
