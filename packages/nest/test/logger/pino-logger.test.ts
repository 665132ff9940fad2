import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getLoggerToken, InjectLogger, LoggerModule, PinoLogger } from '@redline/nest';

import { Deep } from './fixture-app.js';
import { Lines, start } from './harness.js';

@Injectable()
class Named {
  constructor(@InjectLogger('Named') readonly logger: PinoLogger) {}
}

@Injectable()
class Plain {
  constructor(readonly logger: PinoLogger) {}
}

@Injectable()
class SetsContext {
  constructor(readonly logger: PinoLogger) {
    logger.setContext(SetsContext.name);
  }
}

@Module({})
class Root {}

const root = (imports: DynamicModule[]): DynamicModule => ({
  module: Root,
  imports,
  providers: [Named, Plain, SetsContext],
});

async function context(lines: Lines) {
  return NestFactory.createApplicationContext(
    root([LoggerModule.forRoot({ destination: lines, level: 'trace' })]),
    { logger: false, abortOnError: false },
  );
}

describe('PinoLogger', () => {
  it("takes pino's arguments, at pino's levels", async (t) => {
    const lines = new Lines();
    const app = await context(lines);
    t.after(() => app.close());
    const { logger } = app.get(Plain);
    logger.trace('a');
    logger.debug({ n: 1 }, 'b %s %d', 'c', 2);
    logger.info({ n: 2 });
    logger.warn('w');
    logger.error(new Error('e'));
    logger.error({ err: new Error('f'), n: 3 }, 'told');
    logger.fatal('z');
    assert.deepEqual(
      lines.all.map((line) => [line.level, line['n'], line.msg]),
      [
        [10, undefined, 'a'],
        [20, 1, 'b c 2'],
        [30, 2, undefined],
        [40, undefined, 'w'],
        [50, undefined, 'e'],
        [50, 3, 'told'],
        [60, undefined, 'z'],
      ],
    );
    assert.match(lines.all[4]?.err?.stack ?? '', /pino-logger/);
  });

  it('belongs to whoever it was injected into', async (t) => {
    const lines = new Lines();
    const app = await context(lines);
    t.after(() => app.close());
    app.get(Named).logger.info('one');
    app.get(SetsContext).logger.info({ n: 1 }, 'two');
    app.get(SetsContext).logger.error(new Error('three'));
    app.get(Plain).logger.info('four');
    assert.deepEqual(
      lines.all.map((line) => [line['context'], line.msg]),
      [
        ['Named', 'one'],
        ['SetsContext', 'two'],
        ['SetsContext', 'three'],
        [undefined, 'four'],
      ],
    );
    assert.equal(lines.all[2]?.err?.message, 'three');
  });

  it('can be had by token, and gives away pino', async (t) => {
    const lines = new Lines();
    const app = await context(lines);
    t.after(() => app.close());
    app.get<PinoLogger>(getLoggerToken('Named')).logger.child({ part: 1 }).info('child');
    assert.equal(lines.all[0]?.['part'], 1);
  });

  it('works with options made by a factory', async (t) => {
    const lines = new Lines();
    @Module({
      providers: [{ provide: 'CONFIG', useValue: { level: 'warn' } }],
      exports: ['CONFIG'],
    })
    class Config {}
    const app = await NestFactory.createApplicationContext(
      root([
        LoggerModule.forRootAsync({
          imports: [Config],
          inject: ['CONFIG'],
          useFactory: async (config: { level: string }) => ({ ...config, destination: lines }),
        }),
      ]),
      { logger: false, abortOnError: false },
    );
    t.after(() => app.close());
    app.get(Named).logger.info('below');
    app.get(Named).logger.warn('above');
    assert.deepEqual(
      lines.all.map((line) => line.msg),
      ['above'],
    );
  });

  it('writes custom levels through pino', async (t) => {
    const lines = new Lines();
    const app = await NestFactory.createApplicationContext(
      root([LoggerModule.forRoot({ destination: lines, pino: { customLevels: { audit: 35 } } })]),
      { logger: false, abortOnError: false },
    );
    t.after(() => app.close());
    const logger = app.get(Plain).logger.logger as unknown as { audit(message: string): void };
    logger.audit('kept');
    assert.equal(lines.all[0]?.level, 35);
  });
});

describe('runInContext()', () => {
  it('gives work that is not a request a context of its own, for one job each', async () => {
    await using server = await start();
    const { logger } = server.app.get(Deep);
    const work = async (jobId: number): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 3));
      logger.assign({ step: jobId });
      await new Promise((resolve) => setTimeout(resolve, 3));
      logger.info('worked');
    };
    await Promise.all(
      [1, 2].map((jobId) => logger.runInContext(() => work(jobId), { bindings: { jobId } })),
    );
    assert.deepEqual(
      server.lines.all.map((line) => [line['jobId'], line['step']]),
      [
        [1, 1],
        [2, 2],
      ],
    );
    assert.equal(
      logger.runInContext(() => 'returned'),
      'returned',
    );
  });

  it('carries the fields around it only if it inherits', async () => {
    await using server = await start();
    const { logger } = server.app.get(Deep);
    logger.runInContext(
      () => {
        logger.runInContext(() => logger.info('inner'), { inherit: true });
        logger.runInContext(() => logger.info('alone'));
      },
      { bindings: { outer: 1 } },
    );
    assert.deepEqual(
      server.lines.all.map((line) => [line.msg, line['outer']]),
      [
        ['inner', 1],
        ['alone', undefined],
      ],
    );
  });
});
