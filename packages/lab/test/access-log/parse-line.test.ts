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
