import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

import { LoggerError } from '@redline/nest';
import { LoggerModule } from '@redline/nest/nestjs-pino';

type Line = Record<string, unknown>;

const app = join(import.meta.dirname, 'fixture-app.js');

async function linesOf(source: string, framework: string, variant: string): Promise<Line[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [app, source, framework, variant]);
  return (
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line)
      // What Nest says while it starts names each library's own modules.
      .filter((line) => !/^(Nest|Instance|Route)/.test(String(line['context'] ?? line['origin'])))
  );
}

/** What the guide says is different, and what is different in every run. */
function comparable(line: Line): unknown {
  const text = JSON.stringify(line, (key, value: unknown) => {
    if (/^(time|timestamp|pid|hostname|responseTime|ms|remotePort|host)$/.test(key)) return 0;
    if (key === 'params' && Array.isArray(Object.values(value as object)[0])) return undefined;
    if (key === 'params' && Object.keys(line).some((name) => name.startsWith('req')))
      return undefined;
    if (key === 'authorization') return '[Redacted]';
    if (key === 'stack') return String(value).split('\n', 1)[0];
    return value;
  });
  const plain = JSON.parse(text) as Line;
  for (const name of ['err', 'error']) {
    const error = plain[name] as Line | undefined;
    if (/^failed with status|^handler broke/.test(String(error?.['message'])))
      plain[name] = 'error';
  }
  if (/^handler broke|^TypeError: handler/.test(String(plain['message']))) {
    plain['message'] = 'handler broke';
    delete plain['error'];
  }
  if (typeof plain['msg'] === 'string') {
    plain['msg'] = plain['msg'].replace('failed with status code 500', 'handler broke');
  }
  return plain;
}

const variants = ['plain', 'quiet', 'quietest', 'custom', 'native', 'excluded'];
const isAll = process.env['REDLINE_MIGRATION'] === 'all';

for (const framework of ['express', 'fastify']) {
  describe(`an app of nestjs-pino on ${framework}, with its import changed`, () => {
    // Each variant on one framework in turn in `npm test`, and the first on both.
    const chosen = variants.filter(
      (_, at) => isAll || at === 0 || framework === ['express', 'fastify'][at % 2],
    );
    for (const variant of chosen) {
      it(`writes the lines it wrote before: ${variant}`, async () => {
        const [before, after] = await Promise.all([
          linesOf('nestjs-pino', framework, variant),
          linesOf('@redline/nest/nestjs-pino', framework, variant),
        ]);
        assert.ok(before.length > 10);
        assert.deepEqual(after.map(comparable), before.map(comparable));
      });
    }
  });
}

describe('the parameters of nestjs-pino', () => {
  it('are refused by name where they do not apply', () => {
    for (const params of [{ useExisting: true }, { microservice: true }, { pinohttp: {} }]) {
      assert.throws(
        () => LoggerModule.forRoot(params as never),
        (error) =>
          error instanceof LoggerError &&
          error.code === 'ERR_REDLINE_LOGGER_UNKNOWN_OPTION' &&
          error.message.includes(`"${Object.keys(params)[0]}"`),
      );
    }
  });

  it('are refused with the value that has the wrong type', () => {
    const wrong: [string, unknown][] = [
      ['params', 5],
      ['pinoHttp', 5],
      ['pinoHttp', null],
      ['pinoHttp', [5]],
      ['pinoHttp.logger', 5],
      ['pinoHttp.stream', 'stdout'],
      ['pinoHttp.genReqId', 'uuid'],
      ['pinoHttp.useLevel', 'loud'],
      ['pinoHttp.useLevel', 30],
      ['pinoHttp.autoLogging', 'off'],
      ['pinoHttp.autoLogging.ignore', '/health'],
      ['pinoHttp.customProps', 5],
      ['pinoHttp.wrapSerializers', 'no'],
      ['pinoHttp.quietReqLogger', 1],
      ['pinoHttp.quietResLogger', 1],
      ['pinoHttp.customLogLevel', 'info'],
      ['pinoHttp.customSuccessMessage', 'done'],
      ['renameContext', 0],
      ['assignResponse', 'yes'],
      ['nativeLogger', true],
      ['nativeLogger.flattenParams', 'yes'],
      ['exclude', 0],
      ['forRoutes', ['a', 5]],
    ];
    for (const [path, value] of wrong) {
      const names = path === 'params' ? [] : path.split('.');
      const params = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      assert.throws(
        () => LoggerModule.forRoot(params as never),
        ({ code, message }: LoggerError) => {
          assert.equal(code, 'ERR_REDLINE_LOGGER_OPTION', `${path}: ${message}`);
          assert.ok(message.startsWith(`The option ${path} of LoggerModule must be `), message);
          const got = path === 'pinoHttp' && Array.isArray(value) ? value[0] : value;
          assert.ok(message.endsWith(`; got ${JSON.stringify(got)}.`), message);
          return true;
        },
      );
    }
    assert.throws(
      () => LoggerModule.forRoot({ pinoHttp: { autoLogging: { ignorePaths: [] } } } as never),
      {
        code: 'ERR_REDLINE_LOGGER_UNKNOWN_OPTION',
        message: /"ignorePaths" of pinoHttp\.autoLogging/,
      },
    );
    assert.throws(() => LoggerModule.forRootAsync({ useFactory: 5 as never }), {
      code: 'ERR_REDLINE_LOGGER_OPTION',
      message: /^The option useFactory .*; got 5\.$/,
    });
  });

  it('take one level for all responses or a function, not both', () => {
    assert.throws(
      () => LoggerModule.forRoot({ pinoHttp: { useLevel: 'warn', customLogLevel: () => 'info' } }),
      { code: 'ERR_REDLINE_LOGGER_OPTION' },
    );
  });
});
