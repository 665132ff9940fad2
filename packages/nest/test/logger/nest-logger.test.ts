import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Logger, type LoggerService } from '@nestjs/common';
import { NestLogger } from '@redline/nest';

import { type Line, type RunningApp, start } from './harness.js';

const STACK = 'Error: boom\n    at somewhere (/app/file.js:1:2)';

async function written(
  call: (logger: NestLogger) => void,
  options: Parameters<typeof start>[0] = { level: 'trace' },
): Promise<Line[]> {
  await using server = await start(options);
  const before = server.lines.raw.length;
  call(server.app.get(NestLogger));
  return server.lines.all.slice(before);
}

const brief = (lines: Line[]): unknown[] =>
  lines.map((line) => [line.level, line['context'], line.msg]);

describe('NestLogger', () => {
  it('writes what Nest logs while it starts, buffered until the logger is there', async () => {
    await using server = await start({}, { nestLogger: true });
    const contexts = new Set(server.lines.all.map((line) => line['context']));
    for (const context of ['NestFactory', 'InstanceLoader', 'RouterExplorer', 'NestApplication']) {
      assert.ok(contexts.has(context), context);
    }
    assert.match(
      server.lines.all.map((line) => line.msg).join('\n'),
      /Mapped \{\/hello, GET\} route/,
    );
  });

  it("maps Nest's levels to pino's", async () => {
    const lines = await written((logger) => {
      logger.verbose('a', 'Ctx');
      logger.debug('b', 'Ctx');
      logger.log('c', 'Ctx');
      logger.warn('d', 'Ctx');
      logger.error('e', undefined, 'Ctx');
      logger.fatal('f', undefined, 'Ctx');
    });
    assert.deepEqual(brief(lines), [
      [10, 'Ctx', 'a'],
      [20, 'Ctx', 'b'],
      [30, 'Ctx', 'c'],
      [40, 'Ctx', 'd'],
      [50, 'Ctx', 'e'],
      [60, 'Ctx', 'f'],
    ]);
  });

  it('takes the last string for the context, but never the only argument', async () => {
    assert.deepEqual(brief(await written((logger) => logger.log('alone'))), [
      [30, undefined, 'alone'],
    ]);
    assert.deepEqual(brief(await written((logger) => logger.log('text', 'Ctx'))), [
      [30, 'Ctx', 'text'],
    ]);
  });

  it('writes several messages as several lines', async () => {
    assert.deepEqual(brief(await written((logger) => logger.log('one', 2, 'Ctx'))), [
      [30, 'Ctx', 'one'],
      [30, 'Ctx', '2'],
    ]);
  });

  it('takes plain objects for fields, as the message and after it', async () => {
    const [message, after] = await written((logger) => {
      logger.log({ orderId: 1, msg: 'placed' }, 'Ctx');
      logger.log('placed', { orderId: 2 }, { more: true }, 'Ctx');
    });
    assert.deepEqual(
      [message?.['orderId'], message?.msg, message?.['context']],
      [1, 'placed', 'Ctx'],
    );
    assert.deepEqual([after?.['orderId'], after?.['more'], after?.msg], [2, true, 'placed']);
  });

  it('writes errors with their stacks, wherever they stand', async () => {
    const error = new RangeError('out of range');
    const lines = await written((logger) => {
      logger.error(error);
      logger.error(error, undefined, 'Ctx');
      logger.error('it failed', error, 'Ctx');
      logger.warn(error, 'Ctx');
    });
    assert.equal(lines.length, 4);
    for (const line of lines) {
      assert.equal(line.err?.type, 'RangeError');
      assert.match(line.err?.stack ?? '', /nest-logger/);
    }
    assert.deepEqual(
      lines.map((line) => line.msg),
      ['out of range', 'out of range', 'it failed', 'out of range'],
    );
  });

  it('takes a stack before the context, or alone, and keeps undefined out', async () => {
    const lines = await written((logger) => {
      logger.error('boom', STACK, 'Ctx');
      logger.error('boom', STACK);
      logger.error('boom', 'Ctx');
      logger.error('boom', undefined, 'Ctx');
      logger.error('boom', undefined);
      logger.fatal('boom', STACK, 'Ctx');
    });
    assert.deepEqual(
      lines.map((line) => [line.msg, line['context'], line.err?.stack]),
      [
        ['boom', 'Ctx', STACK],
        ['boom', undefined, STACK],
        ['boom', 'Ctx', undefined],
        ['boom', 'Ctx', undefined],
        ['boom', undefined, undefined],
        ['boom', 'Ctx', STACK],
      ],
    );
  });

  it('resolves lazy messages and names classes, and shows anything else', async () => {
    class Thing {
      readonly name = 'thing';
    }
    const lines = await written((logger) => {
      logger.log(() => 'lazy', 'Ctx');
      logger.log(Thing, 'Ctx');
      logger.log([1, 2], 'Ctx');
      logger.log(new Map([['a', 1]]), 'Ctx');
      logger.log(null, 'Ctx');
    });
    assert.deepEqual(
      lines.map((line) => line.msg),
      ['lazy', 'Thing', '[ 1, 2 ]', "Map(1) { 'a' => 1 }", 'null'],
    );
  });

  it('does not call a lazy message whose level is off', async () => {
    const lines = await written((logger) => logger.debug(() => assert.fail('called'), 'Ctx'), {
      level: 'info',
    });
    assert.deepEqual(lines, []);
  });

  it("is behind `new Logger()` of Nest, with the request's id", async () => {
    await using server: RunningApp = await start({}, { nestLogger: true });
    await fetch(`${server.url}/deep/x`);
    await server.lines.settled(1);
    const line = server.lines.all.find((candidate) => candidate.msg === 'native x');
    assert.equal(line?.['context'], 'Native');
    assert.equal(line?.reqId, server.lines.responses[0]?.reqId);
  });

  it('is a LoggerService', async () => {
    const lines = await written((logger) => {
      const service: LoggerService = logger;
      Logger.overrideLogger(service);
      new Logger('Own').error('broke', STACK);
      Logger.overrideLogger(false);
    });
    assert.deepEqual(
      lines.map((line) => [line['context'], line.msg, line.err?.stack]),
      [['Own', 'broke', STACK]],
    );
  });
});
