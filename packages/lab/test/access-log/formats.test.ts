import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DeclaredFormat, guessFormat } from '../../src/access-log/declared-format.ts';
import { combinedLayouts } from '../../src/access-log/formats/combined.ts';
import { jsonFormats, reqResFormat } from '../../src/access-log/formats/json.ts';
import { looseFormats, proxyFormats } from '../../src/access-log/formats/proxies.ts';
import { w3cFormats } from '../../src/access-log/formats/w3c.ts';
import { wordFormats } from '../../src/access-log/formats/words.ts';
import { wrappers } from '../../src/access-log/formats/wrappers.ts';
import type { LogFormat, ParsedLine } from '../../src/access-log/logged-request.ts';
import { LineParser } from '../../src/access-log/parse-line.ts';

const named: readonly LogFormat[] = [
  ...combinedLayouts,
  ...jsonFormats,
  reqResFormat,
  ...proxyFormats,
  ...looseFormats,
  ...w3cFormats,
];
const all: readonly LogFormat[] = [...named, ...wordFormats];

function lastOf(parser: LineParser, text: string): ParsedLine {
  return text
    .split('\n')
    .map((line) => parser.parse(line))
    .at(-1)!;
}

describe('each format of the table', () => {
  for (const format of all) {
    const { name, sample, reading } = format;
    test(`${name}: its sample is read as it says`, () => {
      const parser = new LineParser();
      assert.deepEqual(lastOf(parser, sample), reading);
      assert.equal(parser.formats.length, 1);
      if (named.includes(format) && name !== 'common') {
        assert.equal(parser.formats[0]!.name, name);
        assert.equal(parser.formats[0]!.duration, format.duration);
      }
      assert.equal(format.duration === undefined, reading.durationMs === undefined);
    });
  }

  test('is read by itself after a line of every other', () => {
    for (const before of all) {
      for (const { name, sample, reading } of all) {
        const parser = new LineParser();
        lastOf(parser, before.sample);
        assert.deepEqual(lastOf(parser, sample), reading, `${name} after ${before.name}`);
      }
    }
  });

  test('is read within the words of a container, a journal or a process manager', () => {
    const single = all.filter(({ sample }) => !sample.startsWith('#'));
    for (const { name, sample, reading } of single) {
      for (const wrapper of wrappers) {
        const read = new LineParser().parse(wrapper.sample(sample));
        if (read === 'other' || read === 'unreadable')
          assert.fail(`${name} in ${wrapper.name}: ${read}`);
        assert.deepEqual(
          { ...read, time: reading.time },
          { ...reading, time: reading.time },
          `${name} in ${wrapper.name}`,
        );
      }
      const inDocker = JSON.stringify({
        log: `${sample}\n`,
        stream: 'stdout',
        time: '2026-10-10T13:55:36Z',
      });
      assert.deepEqual(new LineParser().parse(inDocker), reading, `${name} in docker json-file`);
    }
  });
});

describe('a number is a duration only if its place says so', () => {
  const line = '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl"';
  for (const rest of [
    '"10.0.0.1" 350',
    '350 12 7',
    '[svc] 9',
    '"10.0.0.1" 7f3a 1791640536.123',
    '"0.4.0"',
  ]) {
    test(`${rest} has none`, () => {
      const parser = new LineParser();
      const read = parser.parse(`${line} ${rest}`) as { durationMs?: number };
      assert.equal(read.durationMs, undefined);
    });
  }

  test('and a duration above a day is not one', () => {
    const entry = { method: 'GET', url: '/a', status: 200, duration: 1_791_640_536_123 };
    assert.deepEqual(new LineParser().parse(JSON.stringify(entry)), {
      method: 'GET',
      path: '/a',
      status: 200,
    });
  });

  test('the port of a URL is not a status', () => {
    assert.equal(new LineParser().parse('GET https://example.com:443/x done'), 'unreadable');
    assert.equal(
      new LineParser().parse(
        '2026-10-10 13:55:36 10.0.0.2 GET /x - 443 - 10.0.0.1 curl 200 0 0 401',
      ),
      'unreadable',
    );
  });
});

describe('requests of Fastify in two lines', () => {
  const incoming = (reqId: string, url: string, who: object): string =>
    JSON.stringify({ time: 5, ...who, reqId, req: { method: 'GET', url } });
  const completed = (reqId: string, responseTime: number, who: object): string =>
    JSON.stringify({ time: 9, ...who, reqId, res: { statusCode: 200 }, responseTime });

  for (const [name, one, two, wrap] of [
    ['processes', { pid: 1, hostname: 'a' }, { pid: 2, hostname: 'a' }, false],
    ['hosts', { pid: 1, hostname: 'a' }, { pid: 1, hostname: 'b' }, false],
    ['containers', {}, {}, true],
  ] as const) {
    test(`are put together by id, apart for several ${name}`, () => {
      const parser = new LineParser();
      const parse = (line: string, who: string): ParsedLine =>
        parser.parse(wrap ? `${who}  | ${line}` : line);
      parse(incoming('req-1', '/slow', one), 'web-1');
      parse(incoming('req-1', '/fast', two), 'web-2');
      const fast = parse(completed('req-1', 2, two), 'web-2');
      const slow = parse(completed('req-1', 502, one), 'web-1');
      assert.deepEqual(fast, { method: 'GET', path: '/fast', time: 5, status: 200, durationMs: 2 });
      assert.deepEqual(slow, {
        method: 'GET',
        path: '/slow',
        time: 5,
        status: 200,
        durationMs: 502,
      });
      assert.equal(parser.withoutBegin, 0);
    });
  }

  test('are counted where the first line is missing', () => {
    const parser = new LineParser();
    assert.equal(parser.parse(completed('req-9', 2, {})), 'other');
    assert.equal(parser.withoutBegin, 1);
  });
});

describe('--format', () => {
  const request = {
    method: 'GET',
    path: '/a?b=c',
    status: 200,
    time: Date.parse('2026-10-10T13:55:36Z'),
  };
  for (const [format, line, reading] of [
    [
      '"$host" [$time_local] "$request" $status $body_bytes_sent $request_length $request_time "$http_user_agent"',
      '"example.com" [10/Oct/2026:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 5 350 0.401 "a \\"b\\" c"',
      { ...request, durationMs: 401 },
    ],
    [
      '%v %h %l %u %t \\"%r\\" %>s %b \\"%{Referer}i\\" %I %{ms}T',
      'example.com 1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /a?b=c HTTP/1.1" 200 5 "-" 350 401',
      { ...request, durationMs: 401 },
    ],
    [
      '%t %m %U%q %>s %D',
      '[10/Oct/2026:13:55:36 +0000] GET /a?b=c 200 401000',
      { ...request, durationMs: 401 },
    ],
  ] as const) {
    test(format, () => {
      const parser = new LineParser(new DeclaredFormat(format));
      assert.deepEqual(parser.parse(line), reading);
      assert.equal(parser.parse('something else'), 'unreadable');
    });
  }

  test('that names no request is refused', () => {
    assert.throws(
      () => new DeclaredFormat('$status $request_time'),
      /has to name the request and the status/,
    );
  });

  test('is guessed for a line that is not understood, and the guess reads it', () => {
    const line = 'x7 "example.com" 1791640536.123 "GET /a HTTP/1.1" 350 200 0.401 [a b]';
    const guess = guessFormat(line)!;
    assert.equal(guess, '$_ "$_" $msec "$request" $status $_ $request_time [$_]');
    assert.equal(guessFormat('Server listening on 3000'), undefined);
  });
});
