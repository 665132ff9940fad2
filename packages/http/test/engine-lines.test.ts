import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { engine } from '../src/index.ts';
import { engineLines, type EngineLinesOptions } from '../src/pino.ts';
import { Lines, PatientSink, serve } from './lines/harness.ts';
import { until } from '@redline/services/until';

const skip = engine().name === 'native' ? false : 'the addon is not built';

const none = (): never => assert.fail('a request reached JavaScript');

/** Options of pino that change a line; each combination is as good as any. */
const PINO: Record<string, readonly unknown[]> = {
  base: [undefined, null, {}, { pid: 7, host: 'a "quoted" \\ höst', nested: { a: [1, null] } }],
  name: [undefined, 'shop ✓'],
  timestamp: [
    undefined,
    false,
    stdTimeFunctions.isoTime,
    stdTimeFunctions.unixTime,
    stdTimeFunctions.epochTime,
  ],
  messageKey: [undefined, 'message'],
  level: ['trace', 'info', 'warn', 'error', 'fatal', 'silent', 'audit'],
  customLevels: [{ audit: 35 }],
  formatters: [
    undefined,
    { level: (label: string) => ({ level: label }) },
    { level: (label: string, number: number) => ({ severity: label.toUpperCase(), number }) },
    { bindings: ({ pid }: { pid: number }) => ({ process: pid }) },
  ],
  msgPrefix: [undefined, '[http] "x" '],
  crlf: [undefined, true],
  redact: [undefined, ['password', 'req.headers.cookie']],
  serializers: [undefined, { user: (user: unknown) => `${user}` }],
  errorKey: [undefined, 'error'],
  levelComparison: [undefined, 'ASC'],
};

const CHILDREN = [undefined, { service: 'billing', 'odd "key"': 'välue\n' }, { a: undefined }];
const LINES: Record<string, readonly unknown[]> = {
  requests: ['all', 'errors', { sample: 1 }, { sample: 0 }, undefined],
  requestIdHeader: [undefined, false, 'X-Trace-Id'],
  reqIdKey: [undefined, 'id', 'request "id"'],
  responseTimeKey: [undefined, 'duration_ms'],
};

const ODD = '/a?q="\\"&r=\\u0041%C3%A9[]{}|^`';
const REQUESTS: readonly [target: string, status: number, method: string, headers: string[]][] = [
  ['/', 200, 'GET', []],
  [ODD, 200, 'HEAD', ['X-Request-Id: a.B_9:/+=@~-', 'x-trace-id:  trace-1 ']],
  [`/${'long'.repeat(60)}"`, 404, 'GET', ['X-Request-Id: with space', 'X-Trace-Id: "']],
  ['/error', 503, 'GET', ['X-Request-Id: one', 'x-request-id: one', 'X-Trace-Id:']],
];

describe('lines of the engine', { skip, timeout: 600_000 }, () => {
  test('are those of pino, character for character, whatever its options', async () => {
    await using served = await serve(none);
    const draw = drawing(20_261_123);
    for (let round = 0; round < 250; round += 1) {
      const options = draw.options(PINO) as LoggerOptions;
      const how = draw.options(LINES) as EngineLinesOptions;
      const bindings = draw.one(CHILDREN);
      const [ours, theirs] = [new Lines(), new Lines()];
      const loggerTo = (lines: Lines): pino.Logger => {
        const root = pino(options, lines);
        return bindings === undefined ? root : root.child(bindings, { msgPrefix: 'child ' });
      };
      const logger = loggerTo(ours);
      const lines = engineLines(logger, how);
      assert.equal(lines.obstacle, undefined);
      served.log(lines);
      for (const [target, status, method, headers] of REQUESTS) {
        served.keep(target, status);
        assert.equal(await served.ask(target, headers, method), status);
      }
      const written = ours.taken();
      const idHeader = how.requestIdHeader ?? 'X-Request-Id';
      const expected = loggerTo(theirs);
      for (const [url, statusCode, method, headers] of REQUESTS) {
        const isLeftOut = how.requests === 'errors' || sampleOf(how) === 0;
        if (statusCode < 400 && isLeftOut) continue;
        const values = headers
          .map((line) => line.split(':', 1).concat(line.slice(line.indexOf(':') + 1).trim()))
          .filter(([name]) => name!.toLowerCase() === String(idHeader).toLowerCase());
        const id =
          values.length === 1 && /^[\w.:/+=@~-]+$/.test(values[0]![1]!)
            ? values[0]![1]
            : 'GENERATED';
        const level = statusCode >= 500 ? 'error' : statusCode >= 400 ? 'warn' : 'info';
        expected[level](
          {
            [how.reqIdKey ?? 'reqId']: id,
            method,
            url,
            statusCode,
            [how.responseTimeKey ?? 'responseTime']: 0.123,
          },
          statusCode >= 500 ? 'request errored' : 'request completed',
        );
      }
      const context = `round ${round}: ${JSON.stringify({ options, how, bindings })}`;
      const key = how.responseTimeKey ?? 'responseTime';
      const time = new RegExp(`(${JSON.stringify(key)}:)\\d+\\.\\d{3}\\b`);
      const shown = written.map((line) =>
        masked(line)
          .replace(time, '$10.123')
          .replace(/"[\w-]{8}-\w*\d{3}"/, '"GENERATED"'),
      );
      assert.deepEqual(shown, theirs.taken().map(masked), context);
    }
  });

  test('have the time of their response, and one as JavaScript measures it', async () => {
    await using served = await serve(none);
    const lines = new Lines();
    served.log(engineLines(pino({}, lines)));
    served.keep('/');
    const before = Date.now();
    await served.ask('/');
    const [line] = lines.lines.map((text) => JSON.parse(text));
    assert.ok(line.time >= before && line.time <= Date.now(), `${line.time}`);
    assert.ok(line.responseTime >= 0 && line.responseTime < 1000, `${line.responseTime}`);
  });

  test('follow a level and bindings that change while the server runs', async () => {
    await using served = await serve(none);
    const lines = new Lines();
    const logger = pino({ base: null, timestamp: false }, lines);
    served.log(engineLines(logger));
    served.keep('/');
    logger.level = 'warn';
    await served.ask('/');
    assert.deepEqual(lines.taken(), []);
    // Neither is what a child does.
    const child = logger.child({ child: true });
    child.level = 'info';
    child.setBindings({ more: true });
    await served.ask('/');
    assert.deepEqual(lines.taken(), []);
    logger.level = 'info';
    logger.setBindings({ version: 2 });
    await served.ask('/');
    assert.match(lines.taken().join(''), /^{"level":30,"version":2,"reqId":/);
  });

  test('of ids that the engine makes are never the same twice', async () => {
    await using served = await serve(none);
    const lines = new Lines();
    const logger = pino({}, lines);
    served.log(engineLines(logger));
    served.keep('/');
    for (let count = 0; count < 20; count += 1) {
      await served.ask('/');
      logger.setBindings({ count });
    }
    const ids = lines.lines.map((line) => JSON.parse(line).reqId as string);
    assert.equal(new Set(ids).size, 20);
  });

  test('are a share of the good ones, and every error', async () => {
    await using served = await serve(none);
    const lines = new Lines();
    served.log(engineLines(pino({}, lines), { requests: { sample: 0.3 } }));
    served.keep('/');
    served.keep('/missing', 404);
    for (let count = 0; count < 300; count += 1) await served.ask('/');
    const good = lines.taken().length;
    assert.ok(good > 45 && good < 150, `${good} of 300`);
    for (let count = 0; count < 10; count += 1) await served.ask('/missing');
    assert.equal(lines.taken().length, 10);
  });

  test('are not written for responses that were stored without, nor for a log that is off', async () => {
    await using served = await serve(none);
    const lines = new Lines();
    served.keep('/health');
    assert.equal(served.store.lines, undefined);
    served.log(engineLines(pino({}, lines)));
    await served.ask('/health');
    served.log(engineLines(pino({}, lines), { requests: 'off' }));
    assert.deepEqual(served.store.lines, { obstacle: undefined, line: 0 });
    served.keep('/off');
    await served.ask('/off');
    assert.deepEqual(lines.taken(), []);
  });

  for (const threaded of [false, true]) {
    describe(`that nobody takes, threaded: ${threaded}`, () => {
      test('keep the engine from answering once they are a mebibyte, and every response has its line', async () => {
        let requests = 0;
        await using served = await serve((_, response) => {
          requests += 1;
          response.end('from the application');
        }, threaded);
        const sink = new PatientSink(64 * 1024);
        served.log(
          engineLines(pino({ base: { filler: 'x'.repeat(8000) } }, new Lines()), { sink }),
        );
        served.keep('/');
        for (let count = 0; count < 160; count += 1) {
          assert.equal(await served.ask('/'), 200);
        }
        assert.ok(requests > 0, 'the engine has answered all of them');
        assert.equal(served.store.stats().logFull, requests);
        assert.equal(sink.take().length + requests, 160);
        const before = requests;
        await served.ask('/');
        assert.deepEqual([requests, sink.take().length], [before, 1]);
        // First that there are some, then that they are due; again after each take.
        assert.deepEqual(sink.heard.slice(0, 2), [false, true]);
        assert.ok(sink.heard.length <= 5, `${sink.heard}`);
      });

      test('are the last ones once they are held', async () => {
        let requests = 0;
        await using served = await serve((_, response) => {
          requests += 1;
          response.end();
        }, threaded);
        const sink = new PatientSink(0);
        served.log(engineLines(pino({}, new Lines()), { sink }));
        served.keep('/');
        await served.ask('/');
        for (const source of sink.sources) source.hold();
        await served.ask('/');
        assert.deepEqual([requests, sink.take().length], [1, 1]);
      });

      test('outlive their server', async () => {
        const sink = new PatientSink(64 * 1024);
        {
          await using served = await serve(none, threaded);
          served.log(engineLines(pino({}, new Lines()), { sink }));
          served.keep('/');
          await served.ask('/');
        }
        const [source] = sink.sources;
        await until('its end', () => source!.isOver);
        assert.equal(sink.take().length, 1);
        assert.equal(source!.waits, false);
      });
    });
  }

  test('wait while a stream takes no more', async () => {
    await using served = await serve(none);
    const written: string[] = [];
    const stream = { writableNeedDrain: true, write: (line: string) => void written.push(line) };
    served.log(engineLines(pino({}, stream)));
    served.keep('/');
    for (let count = 0; count < 3; count += 1) await served.ask('/');
    assert.deepEqual(written, []);
    stream.writableNeedDrain = false;
    await until('all lines', () => written.length >= 3);
    assert.equal(written.length, 3);
  });

  test('go to a new file once pino.destination() has opened it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'redline-lines-'));
    const [dest, old] = [join(folder, 'log'), join(folder, 'log.1')];
    try {
      await using served = await serve(none);
      const destination = pino.destination({ dest, sync: true });
      served.log(engineLines(pino({}, destination)));
      served.keep('/');
      await served.ask('/');
      await rename(dest, old);
      await served.ask('/');
      destination.reopen();
      await served.ask('/');
      const count = async (path: string): Promise<number> =>
        (await readFile(path, 'utf8')).split('\n').length - 1;
      assert.deepEqual([await count(old), await count(dest)], [2, 1]);
      destination.end();
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('reach a descriptor several at a time', async () => {
    await using served = await serve(none, true);
    const chunks: string[] = [];
    const stream = { fd: 1, write: (text: string) => void chunks.push(text) };
    served.log(engineLines(pino({}, stream)));
    served.keep('/');
    await Promise.all(Array.from({ length: 50 }, () => served.ask('/')));
    await until('all lines', () => chunks.join('').split('\n').length >= 51);
    assert.equal(chunks.join('').split('\n').length, 51);
  });

  describe('for a destination of pino that gathers them', () => {
    const gathering = async (minLength: number) => {
      const folder = await mkdtemp(join(tmpdir(), 'redline-lines-'));
      const dest = join(folder, 'log');
      const stream = pino.destination({ dest, sync: false, minLength });
      await once(stream, 'ready');
      const writes: number[] = [];
      stream.on('write', (bytes: number) => void writes.push(bytes));
      const written = async (): Promise<string[]> =>
        (await readFile(dest, 'utf8')).split('\n').slice(0, -1);
      const remove = async (): Promise<void> => {
        stream.destroy();
        await rm(folder, { recursive: true });
      };
      return { stream, writes, written, [Symbol.asyncDispose]: remove };
    };

    test('are as many as it gathers', async () => {
      await using served = await serve(none);
      await using log = await gathering(8_000);
      served.log(engineLines(pino({ base: { filler: 'x'.repeat(800) } }, log.stream)));
      served.keep('/');
      for (let count = 0; count < 40; count += 1) await served.ask('/');
      log.stream.flushSync();
      assert.equal((await log.written()).length, 40);
      assert.ok(log.writes.length <= 5, `${log.writes}`);
    });

    test('come before a line of JavaScript that is written after them', async () => {
      await using served = await serve(none);
      await using log = await gathering(8_000);
      const logger = pino({ base: null }, log.stream);
      served.log(engineLines(logger));
      served.keep('/first');
      served.keep('/second');
      await served.ask('/first');
      logger.info('between');
      await served.ask('/second');
      logger.flush();
      await until('a write', () => log.writes.length > 0);
      const lines = (await log.written()).map((line) => JSON.parse(line));
      assert.deepEqual(
        lines.map(({ url, msg }) => url ?? msg),
        ['/first', 'between', '/second'],
      );
    });

    test('reach its file as bytes', async () => {
      await using served = await serve(none);
      await using log = await gathering(8_000);
      served.log(engineLines(pino({ base: { filler: 'x'.repeat(800) } }, log.stream)));
      served.keep('/');
      for (let count = 0; count < 40; count += 1) await served.ask('/');
      await until('all lines', async () => (await log.written()).length >= 40);
      assert.equal((await log.written()).length, 40);
      assert.deepEqual(log.writes, [], 'the destination writes some of them');
    });

    test('wait no longer than a moment for others', async () => {
      await using served = await serve(none);
      const chunks: string[] = [];
      const write = (text: string): void => void chunks.push(text);
      const stream = { fd: 1, sync: false, minLength: 8_000, write };
      served.log(engineLines(pino({}, stream)));
      served.keep('/');
      await served.ask('/');
      await until('a line', () => chunks.length > 0);
      assert.equal(chunks.join('').split('\n').length, 2);
    });
  });
});

describe('a line the engine cannot write', { skip, timeout: 600_000 }, () => {
  const cases: [why: RegExp, options: LoggerOptions, how?: EngineLinesOptions][] = [
    [/mixin/, { mixin: () => ({}) }],
    [/nestedKey/, { nestedKey: 'payload' }],
    [/formatters\.log/, { formatters: { log: (fields) => fields } }],
    [/hooks\.logMethod/, { hooks: { logMethod: () => {} } }],
    [/hooks\.streamWrite/, { hooks: { streamWrite: (line) => line } }],
    [/timestamp function/, { timestamp: () => ',"t":1' }],
    [/timestamp function/, { timestamp: stdTimeFunctions.isoTimeNano }],
    [/no level "info"/, { customLevels: { loud: 50 }, useOnlyCustomLevels: true, level: 'loud' }],
    [/the field "url"/, { serializers: { url: () => '' } }],
    [/the field "url"/, { redact: ['url'] }],
    [/every field/, { redact: ['*'] }],
    [/"user-agent"/, {}, { requestIdHeader: 'User-Agent' }],
    [/the field "msg"/, { serializers: { msg: () => '' } }],
  ];
  for (const [why, options, how] of cases) {
    test(`because of ${why.source}: the request reaches JavaScript`, async () => {
      let requests = 0;
      await using served = await serve((_, response) => {
        requests += 1;
        response.end();
      });
      const lines = engineLines(pino(options, new Lines()), how);
      assert.match(lines.obstacle ?? '', why);
      served.log(lines);
      assert.equal(served.store.lines?.line, 0);
      // Kept in another thread, where its line can be written.
      served.store.keep('/', { body: '', freshMs: 60_000, line: 1 });
      await served.ask('/');
      assert.equal(requests, 1);
    });
  }

  test('because its destination wants to know more of it', () => {
    const logger = pino({}, pino.multistream([{ stream: new Lines() }]));
    assert.match(engineLines(logger).obstacle ?? '', /metadata/);
  });

  test('is that of an error alone, if only errors have lines', async () => {
    let requests = 0;
    await using served = await serve((_, response) => {
      requests += 1;
      response.end();
    });
    const lines = new Lines();
    const logger = pino({ mixin: () => ({}) }, lines);
    assert.equal(engineLines(logger, { requests: 'errors' }).obstacle, undefined);
    served.log(engineLines(logger, { requests: 'errors' }));
    served.keep('/');
    served.keep('/missing', 404);
    assert.equal(await served.ask('/'), 200);
    assert.equal(requests, 0);
    await served.ask('/missing');
    assert.deepEqual([requests, lines.lines.length], [1, 0]);
  });

  test('is one of options that cannot be', () => {
    for (const requests of ['some', { sample: 2 }, null]) {
      assert.throws(() => engineLines(pino({}), { requests: requests as never }), {
        name: 'TypeError',
        message: /requests is .+ must be "all", "errors", "off" or { sample: 0 to 1 }/,
      });
    }
  });
});

function sampleOf({ requests }: EngineLinesOptions): number | undefined {
  return typeof requests === 'object' ? requests.sample : undefined;
}

/** A line without the time, which differs; its form is checked. */
function masked(line: string): string {
  return line
    .replace(/,"time":\d{13},/, ',"time":MILLIS,')
    .replace(/,"time":\d{10},/, ',"time":SECONDS,')
    .replace(/,"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",/, ',"time":ISO,');
}

/** Draws the same values in every run. */
function drawing(seed: number): {
  one<Value>(values: readonly Value[]): Value;
  options(choices: Record<string, readonly unknown[]>): object;
} {
  let state = seed;
  const one = <Value>(values: readonly Value[]): Value => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return values[Math.floor((state / 2 ** 32) * values.length)]!;
  };
  return {
    one,
    options(choices) {
      const drawn = Object.entries(choices).map(([name, values]) => [name, one(values)]);
      return Object.fromEntries(drawn.filter(([, value]) => value !== undefined));
    },
  };
}
