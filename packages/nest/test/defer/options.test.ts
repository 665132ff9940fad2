import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { AfterResponse, DeferModule } from '@redline/nest';

describe('An option of @AfterResponse of the wrong type', () => {
  for (const [name, value] of [
    ['level', 'outbox'],
    ['level', true],
    ['when', 'failure'],
    ['key', 'id'],
    ['delayMs', '200'],
    ['delayMs', -1],
    ['runAt', new Date(0)],
    ['name', 5],
  ] as const) {
    it(`is refused where it is written: ${name}: ${inspect(value)}`, () => {
      assert.throws(
        () => AfterResponse({ [name]: value } as never),
        ({ code, message }: NodeJS.ErrnoException) => {
          assert.equal(code, 'ERR_REDLINE_DEFER_METHOD_OPTION');
          assert.ok(message.startsWith(`The option ${name} of @AfterResponse must be `), message);
          assert.ok(message.endsWith(`; got ${inspect(value)}.`), message);
          return true;
        },
      );
    });
  }

  it('is refused in place of all of them, and under a name that does not exist', () => {
    const code = 'ERR_REDLINE_DEFER_METHOD_OPTION';
    assert.throws(() => AfterResponse('disk' as never), { code, message: /an object; got 'disk'/ });
    assert.throws(() => AfterResponse({ levle: 'disk' } as never), { code, message: /"levle"/ });
  });
});

describe('Options of DeferModule that are not objects', () => {
  const code = 'ERR_REDLINE_DEFER_OPTION';

  it('are refused when the app starts', async () => {
    for (const [given, of] of [
      [5, 'DeferModule'],
      [{ methods: 5 }, 'methods of DeferModule'],
      [{ sinks: 5 }, 'sinks of DeferModule'],
    ] as const) {
      const starting = NestFactory.createApplicationContext(DeferModule.forRoot(given as never), {
        logger: false,
        abortOnError: false,
      });
      await assert.rejects(starting, {
        code,
        message: `The options of ${of} must be an object; got 5.`,
      });
    }
    assert.throws(() => DeferModule.forRootAsync({ useFactory: 5 as never }), {
      code,
      message: /^The option useFactory of DeferModule must be a function .*; got 5\.$/,
    });
  });
});
