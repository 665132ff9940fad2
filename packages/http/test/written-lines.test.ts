import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { responseStoreOf, createServer, engine } from '../src/index.ts';
import { engineLines } from '../src/pino.ts';
import { Lines, PatientSink, serve } from './lines/harness.ts';

const skip = engine().name === 'native' ? false : 'the addon is not built';
const quiet = { base: null, timestamp: false } as const;

describe('the line of a response of JavaScript', { skip }, () => {
  test('is that of pino, character for character, up to the third decimal', async () => {
    await using served = await serve((_, response) => response.end());
    const [ours, theirs] = [new Lines(), new Lines()];
    served.log(engineLines(pino(quiet, ours)));
    const expected = pino(quiet, theirs);
    const urls = ['/', '/a?q="\\"&r=\\u0041%C3%A9[]{}|^`', `/${'long'.repeat(900)}`];
    for (const url of urls)
      for (const [method, status, level] of [
        ['GET', 200, 'info'],
        ['HEAD', 304, 'info'],
        ['GET', 404, 'warn'],
        ['HEAD', 503, 'error'],
      ] as const) {
        const request = { method, url, headers: { 'x-request-id': 'a.B_9:/+=@~-' } };
        assert.equal(served.store.writeLine(request, status, 1.23456), true);
        expected[level](
          { reqId: 'a.B_9:/+=@~-', method, url, statusCode: status, responseTime: 1.235 },
          status >= 500 ? 'request errored' : 'request completed',
        );
      }
    await served.ask('/');
    assert.deepEqual(ours.taken(), theirs.taken());
  });

  test('has an id of the engine where that of the client is missing or unsafe', async () => {
    await using served = await serve((_, response) => response.end());
    const lines = new Lines();
    served.log(engineLines(pino(quiet, lines), { requestIdHeader: 'X-Trace' }));
    const given = [undefined, 'a, b', '', 'é', ['a', 'b']];
    for (const id of given) {
      const request = { url: '/', headers: { 'x-trace': id } };
      assert.equal(served.store.writeLine(request, 200, 0), true);
    }
    await served.ask('/');
    const ids = lines.taken().map((line) => (JSON.parse(line) as { reqId: string }).reqId);
    assert.equal(ids.length, 5);
    assert.ok(
      ids.every((id) => /^[\w-]{8}-00\d$/.test(id)),
      ids.join(),
    );
  });

  test('keeps its place among lines of the engine and of the application', async () => {
    await using served = await serve((_, response) => response.end());
    const lines = new Lines();
    const gathering = Object.assign(lines, { sync: false, minLength: 4_096, fd: 1 });
    const logger = pino(quiet, gathering);
    served.log(engineLines(logger));
    served.keep('/kept');
    served.store.writeLine({ url: '/first', headers: {} }, 200, 1);
    await served.ask('/kept');
    served.store.writeLine({ url: '/third', headers: {} }, 200, 1);
    logger.info('fourth');
    assert.deepEqual(
      lines
        .taken()
        .join('')
        .match(/"url":"[^"]+|fourth/g),
      ['"url":"/first', '"url":"/kept', '"url":"/third', 'fourth'],
    );
  });

  test('follows the level of the logger, and counts as written where none is due', async () => {
    await using served = await serve((_, response) => response.end());
    const lines = new Lines();
    const logger = pino({ ...quiet, level: 'warn' }, lines);
    served.log(engineLines(logger));
    assert.equal(served.store.writeLine({ url: '/good', headers: {} }, 200, 1), true);
    assert.equal(served.store.writeLine({ url: '/bad', headers: {} }, 400, 1), true);
    await served.ask('/');
    assert.deepEqual(
      lines
        .taken()
        .join('')
        .match(/\/good|\/bad/g),
      ['/bad'],
    );
  });

  test('is reported to its sink in its turn: once that lines wait, and once that they are due', async () => {
    await using served = await serve((_, response) => response.end());
    const sink = new PatientSink(300);
    served.log(engineLines(pino(quiet), { sink }));
    const write = (times: number): void => {
      for (let count = 0; count < times; count += 1)
        served.store.writeLine({ url: '/', headers: {} }, 200, 1);
    };
    write(5);
    assert.deepEqual(sink.heard, [false]);
    await nextTurn();
    assert.deepEqual(sink.heard, [false, true]);
    assert.equal(sink.take().length, 5);
    write(5);
    assert.deepEqual(sink.heard, [false, true, false]);
    // Who takes them before that is not told again.
    assert.equal(sink.take().length, 5);
    await nextTurn();
    assert.deepEqual(sink.heard, [false, true, false]);
    write(200);
    assert.deepEqual(sink.heard, [false, true, false, false, true]);
    assert.equal(sink.take().length, 200);
  });

  test('is left to the application where the engine cannot write it', async () => {
    await using served = await serve((_, response) => response.end());
    const write = (request: { method?: string; url?: string }, status = 200, ms = 1): boolean =>
      served.store.writeLine({ ...request, headers: {} }, status, ms);
    assert.equal(write({ url: '/' }), false, 'nobody has called log()');
    served.log(engineLines(pino({ mixin: () => ({}) })));
    assert.equal(write({ url: '/' }), false, 'the logger has a mixin');
    const lines = new Lines();
    served.log(engineLines(pino(quiet, lines), { requests: 'errors', leaveErrors: true }));
    assert.equal(write({ url: '/' }, 500), false, 'the line of an error looks otherwise');
    served.log(engineLines(pino(quiet, lines)));
    assert.equal(write({ method: 'POST', url: '/' }), false, 'POST');
    assert.equal(write({}), false, 'without a target');
    assert.equal(write({ url: '/é' }), false, 'not printable');
    assert.equal(write({ url: '/ŀ' }), false, 'not ASCII, though its low byte is');
    assert.equal(write({ url: `/${'x'.repeat(16_384)}` }), false, 'too long');
    assert.equal(write({ url: '/' }, 200, Number.NaN), false, 'no time');
    assert.equal(write({ url: '/' }, 200, -1), false, 'a time below zero');
    served.log(undefined);
    assert.equal(write({ url: '/' }), false, 'the log is off');
    await served.ask('/');
    assert.deepEqual(lines.taken(), []);
  });

  test('is left to the application while a mebibyte of lines waits, and once the process ends', async () => {
    await using served = await serve((_, response) => response.end());
    const sink = new PatientSink(0);
    served.log(engineLines(pino(quiet), { sink }));
    const url = `/${'x'.repeat(1_000)}`;
    let written = 0;
    while (served.store.writeLine({ url, headers: {} }, 200, 1)) written += 1;
    assert.ok(written > 900 && written < 1_050, `${written}`);
    assert.equal(sink.take().length, written);
    assert.equal(served.store.writeLine({ url, headers: {} }, 200, 1), true);
    sink.sources[0]!.hold();
    assert.equal(served.store.writeLine({ url, headers: {} }, 200, 1), false);
  });

  test('has the place, the plan and the time of its turn, however many there are', async () => {
    await using served = await serve((_, response) => response.end());
    const lines = new Lines();
    const gathering = Object.assign(lines, { sync: false, minLength: 65_536, fd: 1 });
    const logger = pino({ base: null }, gathering);
    served.log(engineLines(logger));
    const from = Date.now();
    const long = `/${'long'.repeat(300)}`;
    for (let count = 0; count < 150; count += 1)
      served.store.writeLine({ url: count % 3 === 0 ? long : '/', headers: {} }, 200, count);
    logger.level = 'warn';
    served.store.writeLine({ url: '/unwritten', headers: {} }, 200, 1);
    served.store.writeLine({ url: '/warned', headers: {} }, 404, 1);
    logger.warn('last');
    const until = Date.now();
    const parsed = lines
      .taken()
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string; responseTime: number; time: number });
    assert.equal(parsed.length, 152);
    assert.deepEqual(
      parsed.slice(0, 150).map(({ url, responseTime }) => [url, responseTime]),
      Array.from({ length: 150 }, (_, count) => [count % 3 === 0 ? long : '/', count]),
    );
    assert.equal(parsed[150]!.url, '/warned');
    assert.ok(parsed.every(({ time }) => time >= from && time <= until));
  });

  test('is left to the application before its server listens', () => {
    const store = responseStoreOf(createServer(() => {}))!;
    store.log(engineLines(pino(quiet, new Lines())));
    assert.equal(store.writeLine({ url: '/', headers: {} }, 200, 1), false);
  });
});
