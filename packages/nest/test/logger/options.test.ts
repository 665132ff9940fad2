import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LoggerError, LoggerModule, type LoggerModuleOptions } from '@redline/nest';

import { Lines, start } from './harness.js';

const refused = (options: unknown): LoggerError => {
  try {
    LoggerModule.forRoot(options as LoggerModuleOptions);
  } catch (error) {
    assert.ok(error instanceof LoggerError);
    return error;
  }
  return assert.fail(`accepted ${JSON.stringify(options)}`);
};

describe('options', () => {
  it("are refused with a code, the option's name and what was given", () => {
    const wrong: [string, unknown][] = [
      ['requests', 'some'],
      ['messages', 'some'],
      ['requests', { sample: 1.5 }],
      ['requests', { sample: '0.5' }],
      ['fields', 'fat'],
      ['ignore', '/health'],
      ['level', 30],
      ['redact', 'password'],
      ['redact', { paths: [1] }],
      ['requestId', 'x-request-id'],
      ['context', 'yes'],
      ['destination', {}],
      ['destination', -1],
      ['bufferLength', 1.5],
      ['bufferLength', -1],
      ['flushIntervalMs', 0],
      ['signals', 1],
      ['pino', 1],
      ['exclude', '/health'],
      ['forRoutes', 'orders'],
      ['exclude', [5]],
      ['forRoutes', [{ method: 0 }]],
      ['customLogLevel', 'info'],
      ['customReceivedMessage', 'came'],
      ['customAttributeKeys', 1],
      ['customAttributeKeys.req', { req: 1 }],
      ['renameContext', ''],
      ['customProps', 'none'],
    ];
    for (const [name, value] of wrong) {
      const error = refused({ [name.split('.')[0] as string]: value });
      assert.equal(error.code, 'ERR_REDLINE_LOGGER_OPTION', name);
      assert.ok(error.message.startsWith(`The option ${name} of LoggerModule `), error.message);
      assert.ok(
        error.message.includes(JSON.stringify(name.includes('.') ? 1 : value)),
        error.message,
      );
    }
  });

  it('are refused inside requestId, redact and pino too', () => {
    const redact = (more: object): string => refused({ redact: { paths: [], ...more } }).message;
    assert.match(redact({ censor: 5 }), /redact\.censor .*; got 5\./);
    assert.match(redact({ remove: 'yes' }), /redact\.remove .*; got "yes"\./);
    assert.match(redact({ path: 'x' }), /^Unknown option "path" of redact\./);
    assert.match(refused({ requestId: { header: 'x y' } }).message, /requestId\.header.*"x y"/);
    assert.match(refused({ requestId: { echo: 1 } }).message, /requestId\.echo/);
    assert.match(refused({ requestId: { generate: 'uuid' } }).message, /requestId\.generate/);
    assert.match(refused({ pino: { level: 'debug' } }).message, /pino\.level/);
    assert.match(refused({ pino: { redact: [] } }).message, /pino\.redact/);
    assert.match(
      refused({ pino: { transport: { target: 'x' } }, destination: './a.log' }).message,
      /destination.*pino\.transport/,
    );
  });

  it('are refused where they are no object, and a factory that is not one', () => {
    assert.match(
      refused(5).message,
      /^The option options of LoggerModule must be an object; got 5/,
    );
    assert.throws(() => LoggerModule.forRootAsync({ useFactory: {} as never }), {
      code: 'ERR_REDLINE_LOGGER_OPTION',
      message: /^The option useFactory of LoggerModule must be a function .*; got \{\}\.$/,
    });
  });

  it("are refused if there is no such option, such as nestjs-pino's", () => {
    const error = refused({ pinoHttp: {} });
    assert.equal(error.code, 'ERR_REDLINE_LOGGER_UNKNOWN_OPTION');
    assert.match(error.message, /"pinoHttp".*requests, messages, fields/);
    assert.equal(refused({ customAttributeKeys: { request: 'x' } }).code, error.code);
    assert.equal(refused({ requestId: { name: 'x' } }).code, 'ERR_REDLINE_LOGGER_UNKNOWN_OPTION');
  });

  it("that pino refuses are refused with pino's words", async () => {
    await assert.rejects(start({ level: 'loud' }), (error) => {
      assert.ok(error instanceof LoggerError);
      assert.equal(error.code, 'ERR_REDLINE_LOGGER_OPTION');
      assert.match(error.message, /loud/);
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  it('that point at a file that cannot be opened are refused', async () => {
    await assert.rejects(start({ destination: '/dev/null/app.log' }), {
      code: 'ERR_REDLINE_LOGGER_DESTINATION',
    });
  });
});

@Module({})
class Root {}

@Module({})
class Feature {}

const root = (...imports: DynamicModule[]): DynamicModule => ({ module: Root, imports });

describe('an app', () => {
  it('that imports the module twice is told so', async () => {
    const lines = new Lines();
    for (const adapter of [new FastifyAdapter(), new ExpressAdapter()])
      await assert.rejects(
        NestFactory.create(
          root(LoggerModule.forRoot({ destination: lines }), {
            module: Feature,
            imports: [LoggerModule.forRoot({ destination: lines, level: 'debug' })],
          }),
          adapter,
          { logger: false, abortOnError: false },
        ),
        { code: 'ERR_REDLINE_LOGGER_TWICE' },
      );
  });

  it("that has Fastify's logger on as well is warned once, and has one line per response", async () => {
    const fastifys = new Lines();
    await using server = await start(
      {},
      { adapter: new FastifyAdapter({ logger: { stream: fastifys } }) },
    );
    for (const path of ['/hello', '/nope', '/throw']) await fetch(server.url + path);
    assert.equal((await server.lines.settled(3)).length, 3);
    const warnings = server.lines.all.filter((line) => line.msg?.startsWith('FastifyAdapter'));
    assert.equal(warnings.length, 1);
    assert.deepEqual(
      fastifys.all.filter((line) => !line.msg?.startsWith('Server listening')),
      [],
    );
  });
});

describe('the guide', () => {
  it('has every option', async () => {
    const guide = await readFile(
      new URL('../../../../docs/guide/logger.md', import.meta.url),
      'utf8',
    );
    const known = refused({ nonsense: 1 })
      .message.split('Known options: ')[1]
      ?.slice(0, -1)
      .split(', ');
    assert.ok(known !== undefined && known.length > 10);
    for (const option of known) assert.ok(guide.includes(`| \`${option}\``), option);
  });
});
