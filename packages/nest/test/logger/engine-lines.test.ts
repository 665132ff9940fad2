import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';

import { type ResponseStore, responseStoreOf, engine } from '@redline/http';
import { type LoggerModuleOptions, nativeLoggerOptions, NestLogger } from '@redline/nest';
import { stdTimeFunctions } from 'pino';

import { type RunningApp, start } from './harness.js';
import { until } from '@redline/services/until';

const skip = engine().name === 'native' ? false : 'the addon is not built';

/** Each with another line, or none. */
const WRITTEN: Record<string, LoggerModuleOptions> = {
  'without options': {},
  'only errors': { requests: 'errors' },
  'errors and no share of the rest': { requests: { sample: 0 } },
  'a whole share': { requests: { sample: 1 } },
  'a level above': { level: 'warn' },
  'a level of its own': { level: 'audit', pino: { customLevels: { audit: 35 } } },
  silence: { level: 'silent' },
  'a base': { pino: { base: { service: 'shop "1"' }, name: 'n' } },
  'no base and no time': { pino: { base: null, timestamp: false } },
  'ISO times': { pino: { timestamp: stdTimeFunctions.isoTime } },
  'Unix times': { pino: { timestamp: stdTimeFunctions.unixTime } },
  'the names of Nest': { pino: nativeLoggerOptions },
  'level labels': { pino: { formatters: { level: (level) => ({ level }) } } },
  'another name of the message': { pino: { messageKey: 'message' } },
  'a prefix of messages': { pino: { msgPrefix: '[http] ' } },
  'names of pino-http': { customAttributeKeys: { reqId: 'id', responseTime: 'duration' } },
  redaction: { redact: ['password', 'req.headers.cookie'] },
  'no redaction': { redact: false },
  'ids of another header': { requestId: { header: 'X-Trace' } },
  'ids of no header': { requestId: { header: false } },
  'without a context': { context: false, renameContext: 'scope' },
  'short intervals': { flushIntervalMs: 1, bufferLength: 1 },
  'each line at once': { bufferLength: 0 },
};

const REFUSED: [why: RegExp, options: LoggerModuleOptions][] = [
  [/"fields" or "customProps"/, { fields: 'full' }],
  [/"fields" or "customProps"/, { fields: () => ({}) }],
  [/"fields" or "customProps"/, { customProps: { app: 1 } }],
  [/"ignore"/, { ignore: () => false }],
  [/"exclude"/, { exclude: ['health'] }],
  [/"forRoutes"/, { forRoutes: ['api'] }],
  [/made by a function/, { requestId: { generate: () => 'a' } }],
  [/requestId\.echo/, { requestId: { echo: true } }],
  [/requestId\.echo/, { requests: 'errors', requestId: { echo: true } }],
  [/"customLogLevel"/, { customLogLevel: () => 'info' }],
  [/"customSuccessMessage"/, { customSuccessMessage: () => 'a' }],
  [/"customErrorObject"/, { customErrorObject: () => ({}) }],
  [/when a request arrives/, { customReceivedMessage: () => 'a' }],
  [/mixin/, { pino: { mixin: () => ({}) } }],
  [/formatters\.log/, { pino: { formatters: { log: (line) => line } } }],
  [/timestamp function/, { pino: { timestamp: () => ',"t":1' } }],
  [/the field "url"/, { redact: ['url'] }],
];

for (const platform of ['fastify-engine', 'express-engine'] as const) {
  describe(`lines of the engine, on ${platform}`, { skip }, () => {
    for (const [name, options] of Object.entries(WRITTEN)) {
      it(`are those of JavaScript: ${name}`, async () => {
        const folder = await mkdtemp(join(tmpdir(), 'redline-lines-'));
        const destination = join(folder, 'log');
        try {
          const app = await start({ ...options, destination }, { platform });
          const paths = ['/hello?a="1"', '/nowhere'] as const;
          for (const path of paths) await ask(app, path);
          keep(app, paths[0], 200);
          keep(app, paths[1], 404);
          const hits = storeOf(app).stats().hits;
          for (const path of paths) await ask(app, path);
          assert.equal(storeOf(app).stats().hits, hits + 2);
          await app.app.close();
          const lines = (await readFile(destination, 'utf8')).split('\n').slice(0, -1);
          const half = lines.length / 2;
          assert.deepEqual(lines.slice(half).map(masked), lines.slice(0, half).map(masked));
          if (name === 'without options') assert.equal(half, 2);
        } finally {
          await rm(folder, { recursive: true });
        }
      });
    }

    it('go to a stream one by one', async () => {
      await using app = await start({}, { platform });
      keep(app, '/hello', 200);
      await Promise.all(Array.from({ length: 5 }, () => ask(app, '/hello')));
      assert.equal((await app.lines.settled(5)).length, 5);
      assert.equal(
        app.lines.raw.filter((line) => line.indexOf('\n') === line.length - 1).length,
        5,
      );
    });

    it('follow a level that changes while the app runs', async () => {
      await using app = await start({}, { platform });
      keep(app, '/hello', 200);
      const logger = app.app.get(NestLogger);
      logger.level = 'warn';
      await ask(app, '/hello');
      logger.level = 'info';
      await ask(app, '/hello');
      assert.equal((await app.lines.settled(1)).length, 1);
    });

    it('go on at the begin of a file that was emptied', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'redline-lines-'));
      const destination = join(folder, 'log');
      try {
        const app = await start({ destination, flushIntervalMs: 1 }, { platform });
        keep(app, '/hello', 200);
        const isLogged = async (): Promise<boolean> =>
          (await readFile(destination, 'utf8')).endsWith('\n');
        for (let count = 0; count < 2; count += 1) {
          await truncate(destination);
          await ask(app, '/hello');
          await until('the line', isLogged);
          assert.match(await readFile(destination, 'utf8'), /^{"level":30,[^\n]+\n$/);
        }
        await app.app.close();
      } finally {
        await rm(folder, { recursive: true });
      }
    });

    it('that find no room on the disk are reported, and answers go on', async () => {
      const warnings: string[] = [];
      const onWarning = ({ message }: Error): void => {
        if (message.startsWith('Log lines')) warnings.push(message);
      };
      process.on('warning', onWarning);
      try {
        await using app = await start(
          { destination: '/dev/full', bufferLength: 100 },
          { platform },
        );
        keep(app, '/hello', 200);
        for (let count = 0; count < 5; count += 1) await ask(app, '/hello');
        assert.equal(storeOf(app).stats().hits, 5);
        await until('the warning', () => warnings.length > 0);
        assert.match(warnings[0] ?? '', /^Log lines were lost: ENOSPC/);
      } finally {
        process.off('warning', onWarning);
      }
    });

    for (const [why, options] of REFUSED) {
      it(`are not written because of ${why.source}: JavaScript answers`, async () => {
        await using app = await start(options, { platform });
        assert.match(storeOf(app).lines?.obstacle ?? '', why);
        storeOf(app).keep('/hello', { body: 'kept', freshMs: 60_000, line: 1 });
        await ask(app, '/hello');
        assert.equal(storeOf(app).stats().hits, 0);
      });
    }

    it('are those of errors alone that JavaScript has to write, if only errors have lines', async () => {
      await using app = await start({ requests: 'errors', fields: 'full' }, { platform });
      assert.deepEqual(storeOf(app).lines, { obstacle: undefined, line: 1 });
      keep(app, '/hello', 200);
      keep(app, '/nowhere', 404);
      await ask(app, '/hello');
      await ask(app, '/nowhere');
      assert.equal(storeOf(app).stats().hits, 1);
      assert.equal((await app.lines.settled(1)).length, 1);
    });

    it('are none if no request has one', async () => {
      await using app = await start({ requests: 'off' }, { platform });
      assert.deepEqual(storeOf(app).lines, { obstacle: undefined, line: 0 });
    });
  });
}

function storeOf({ app }: RunningApp): ResponseStore {
  return responseStoreOf(app.getHttpServer()) as ResponseStore;
}

function keep(app: RunningApp, target: string, status: number): void {
  const { line = 0 } = storeOf(app).lines ?? {};
  const outcome = storeOf(app).keep(target, { status, body: 'kept', freshMs: 60_000, line });
  assert.equal(outcome, 'kept');
}

async function ask({ port }: RunningApp, path: string): Promise<void> {
  const { request } = await import('node:http');
  await new Promise<void>((resolve, reject) => {
    const headers = { 'X-Request-Id': 'id-1', 'X-Trace': 'trace-1' };
    request({ port, host: '127.0.0.1', path, headers }, (response) => {
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
}

/** Times and made ids differ; how they look does not. */
function masked(line: string): string {
  return line
    .replace(/"(time|timestamp)":\d{13},/, '"$1":MILLIS,')
    .replace(/"time":\d{10},/, '"time":SECONDS,')
    .replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",/, '"time":ISO,')
    .replace(/"(reqId|id)":"[\w-]{8}-\d{3}"/, '"$1":MADE')
    .replace(/"(responseTime|duration)":\d+\.\d{3}\b/, '"$1":MILLIS');
}
