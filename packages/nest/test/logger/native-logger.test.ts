import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { ConsoleLogger } from '@nestjs/common';
import { NativeLogger, nativeLoggerOptions, PinoLogger } from '@redline/nest';

import { start } from './harness.js';

type Call = (logger: ConsoleLogger) => void;

/** What Nest's own ConsoleLogger writes with `json: true`. */
function nests(call: Call): unknown[] {
  const written: unknown[] = [];
  class Collecting extends ConsoleLogger {
    protected override printAsJson(
      message: unknown,
      options: Parameters<ConsoleLogger['getJsonLogObject']>[1],
    ): void {
      const replacer = this.stringifyReplacer.bind(this);
      written.push(JSON.parse(JSON.stringify(this.getJsonLogObject(message, options), replacer)));
    }
  }
  call(new Collecting({ json: true }));
  return written;
}

const timeless = (lines: unknown[]): unknown[] =>
  lines.map((line) => ({ ...(line as object), timestamp: 0 }));

describe('NativeLogger', () => {
  const error = new RangeError('out of range', { cause: new Error('why') });
  const calls: Record<string, Call> = {
    levels(logger) {
      logger.verbose('a', 'Ctx');
      logger.debug('b', 'Ctx');
      logger.log('c', 'Ctx');
      logger.warn('d');
      logger.fatal('e', 'Ctx');
    },
    'several messages': (logger) => logger.log('one', 2, ['three'], 'Ctx'),
    objects: (logger) => logger.log({ message: 'in it', a: 1 }, 'Ctx'),
    'objects after the message': (logger) => logger.log('placed', { a: 1 }, { b: 2 }, 'Ctx'),
    errors: (logger) => logger.error(error, 'Ctx'),
    'errors after the message': (logger) => logger.error('it failed', error, 'Ctx'),
    stacks: (logger) => logger.error('boom', 'Error: boom\n    at x (/a.js:1:2)', 'Ctx'),
  };
  for (const [what, call] of Object.entries(calls)) {
    it(`writes the fields of ConsoleLogger's JSON: ${what}`, async () => {
      await using server = await start({ level: 'trace', pino: nativeLoggerOptions });
      call(server.app.get(NativeLogger));
      assert.deepEqual(timeless(server.lines.all), timeless(nests(call)));
    });
  }

  it('follows the level, and carries the id of the request', async () => {
    await using server = await start({ pino: nativeLoggerOptions });
    server.app.useLogger(server.app.get(NativeLogger));
    await (await fetch(`${server.url}/deep/x`)).text();
    await server.lines.settled(1);
    const line = server.lines.all.find((each) => each['message'] === 'native x');
    assert.equal(line?.['context'], 'Native');
    assert.equal(line?.reqId, server.lines.responses[0]?.reqId);
    PinoLogger.root.level = 'error';
    const before = server.lines.all.length;
    server.app.get(NativeLogger).warn('not now');
    assert.equal(server.lines.all.length, before);
  });
});
