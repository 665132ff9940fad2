import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { it } from 'node:test';

import { VersioningType } from '@nestjs/common';
import { NestLogger, PinoLogger } from '@redline/nest';

import { Deep, Routes } from './fixture-app.js';
import { leave, type Line, onEachPlatform, sendRaw, start } from './harness.js';

onEachPlatform('levels and messages of the app’s own', (on) => {
  it('are those the functions return', async () => {
    const seen: unknown[] = [];
    await using server = await start(
      {
        customLogLevel(request, response, error) {
          seen.push([request.url, response.statusCode, error?.message]);
          return response.statusCode === 404 ? 'silent' : error ? 'fatal' : 'debug';
        },
        customSuccessMessage: (request, response, ms) =>
          `${request.method} gave "${response.statusCode}" ${typeof ms}`,
        customErrorMessage: (request, _response, error, ms) =>
          `${request.method} broke: ${error.message} ${typeof ms}`,
        level: 'debug',
      },
      on,
    );
    for (const path of ['/hello', '/missing', '/throw', '/status/503']) {
      await (await fetch(server.url + path)).text();
    }
    const lines = await server.lines.settled(3);
    assert.deepEqual(
      lines.map(({ level, msg }) => [level, msg]),
      [
        [20, 'GET gave "200" number'],
        [60, 'GET broke: handler broke number'],
        [20, 'GET broke: failed with status code 503 number'],
      ],
    );
    assert.deepEqual(seen, [
      ['/hello', 200, undefined],
      ['/missing', 404, undefined],
      ['/throw', 500, 'handler broke'],
      ['/status/503', 503, undefined],
    ]);
  });

  it('fall back to the usual ones where a function throws or names an unknown level', async () => {
    await using server = await start(
      {
        customLogLevel: () => 'loud',
        customSuccessMessage() {
          throw new Error('no message');
        },
      },
      on,
    );
    await (await fetch(`${server.url}/hello`)).text();
    const [line] = await server.lines.settled(1);
    assert.deepEqual([line?.level, line?.msg], [30, 'request completed']);
    assert.equal(line?.err?.message, 'no message');
  });

  it('are asked for aborted requests as well', async () => {
    await using server = await start(
      { customSuccessMessage: (_request, response) => `ended ${response.writableFinished}` },
      on,
    );
    await leave(server.port, '/hang');
    const [line] = await server.lines.settled(1);
    assert.deepEqual([line?.['aborted'], line?.msg], [true, 'ended false']);
  });

  it('get the id and the logger of the request with Node’s messages', async () => {
    type Logged = IncomingMessage & { id: string; log: { info(message: string): void } };
    await using server = await start(
      {
        customSuccessMessage(request) {
          (request as Logged).log.info('from the message');
          return (request as Logged).id;
        },
      },
      on,
    );
    await (await fetch(`${server.url}/hello`)).text();
    const [line] = await server.lines.settled(1);
    assert.equal(line?.msg, line?.reqId);
    assert.equal(server.lines.all[0]?.reqId, line?.reqId);
  });

  it('can write a line for a request that comes, too', async () => {
    await using server = await start(
      {
        customReceivedMessage: (request) => `came: ${request.url}`,
        customReceivedObject: (request) => ({ verb: request.method }),
      },
      on,
    );
    await (await fetch(`${server.url}/hello`)).text();
    const [line] = await server.lines.settled(1);
    const [came] = server.lines.all;
    assert.deepEqual(
      [came?.msg, came?.['verb'], came?.reqId],
      ['came: /hello', 'GET', line?.reqId],
    );
  });

  it('can replace the fields of a line', async () => {
    await using server = await start(
      {
        customSuccessObject: (_request, _response, fields) => ({ ...fields, more: true }),
        customErrorObject: (_request, response, error) => ({
          responseTime: 0,
          why: error.message,
          code: response.statusCode,
        }),
      },
      on,
    );
    for (const path of ['/hello', '/throw']) await (await fetch(server.url + path)).text();
    const [good, bad] = await server.lines.settled(2);
    assert.deepEqual([good?.['more'], good?.['url']], [true, '/hello']);
    assert.deepEqual([bad?.['why'], bad?.['code'], bad?.err], ['handler broke', 500, undefined]);
  });
});

onEachPlatform('names of fields', (on) => {
  it('are the app’s own on every line', async () => {
    await using server = await start(
      {
        customAttributeKeys: { reqId: 'traceId', responseTime: 'ms', err: 'error' },
        renameContext: 'origin',
      },
      { ...on, nestLogger: true },
    );
    await (await fetch(`${server.url}/deep/x`)).text();
    await (await fetch(`${server.url}/throw`)).text();
    while (server.lines.all.filter((line) => 'ms' in line).length < 2) {
      await new Promise(setImmediate);
    }
    server.app.get(Deep).logger.error(new Error('by itself'));
    server.app.get(NestLogger).error(new Error('by Nest'), undefined, 'Here');
    const { all } = server.lines;
    assert.ok(all.every((line) => !('reqId' in line || 'err' in line || 'context' in line)));
    const [good, bad] = all.filter((line) => 'ms' in line);
    assert.equal(
      Object.keys(good ?? {}).join(' '),
      'level time pid hostname traceId method url statusCode ms msg',
    );
    assert.equal(messageOf(bad), 'handler broke');
    assert.equal(all.find((line) => line['label'] === 'x')?.['origin'], 'Deep');
    const [own, nests] = all.slice(-2);
    assert.deepEqual([messageOf(own), own?.['origin']], ['by itself', 'Deep']);
    assert.deepEqual([messageOf(nests), nests?.['origin']], ['by Nest', 'Here']);
  });

  it('of `req` and `res` are those of the full line', async () => {
    await using server = await start(
      { fields: 'full', customAttributeKeys: { req: 'asked', res: 'answered' } },
      on,
    );
    await fetch(`${server.url}/hello`, { headers: { authorization: 'secret' } });
    const [line] = await server.lines.settled(1);
    assert.match(server.lines.raw.join(''), /"answered":\{"headers":/);
    assert.equal(line?.['req'], undefined);
    assert.doesNotMatch(server.lines.raw.join(''), /secret/);
  });

  it('are joined by `customProps` on every line of a request', async () => {
    await using server = await start(
      {
        customProps: (request: { headers: Record<string, unknown> }) => ({
          tenant: request.headers['x-tenant'],
        }),
      },
      on,
    );
    await (await fetch(`${server.url}/deep/x`, { headers: { 'x-tenant': 'acme' } })).text();
    await server.lines.settled(1);
    assert.equal(server.lines.all.length, 4);
    assert.ok(server.lines.all.every((line) => line['tenant'] === 'acme'));
  });
});

onEachPlatform('chosen routes', (on) => {
  const urls = async (
    options: Parameters<typeof start>[0],
    paths: string[],
    prepare: NonNullable<Parameters<typeof start>[1]>['prepare'] = () => {},
  ): Promise<unknown[]> => {
    await using server = await start(options, { ...on, prepare });
    for (const path of paths) await (await fetch(server.url + path)).text();
    // The last is always logged, so that the others had their time.
    await sendRaw(server.port, 'BAD\r\n\r\n');
    while (!server.lines.responses.some((line) => line['url'] === paths.at(-1))) {
      await new Promise(setImmediate);
    }
    return server.lines.responses.map((line) => line['url']);
  };

  it('that are excluded have no line, and their neighbours have', async () => {
    const paths = ['/hello', '/hello?a=1', '/items/1', '/items/2', '/hello/more', '/nope'];
    assert.deepEqual(await urls({ exclude: ['hello', 'items/:id'] }, paths), [
      '/hello/more',
      '/nope',
    ]);
  });

  it('that are named are the only ones with a line', async () => {
    assert.deepEqual(await urls({ forRoutes: ['items/:id'] }, ['/hello', '/nope', '/items/1']), [
      '/items/1',
    ]);
    assert.deepEqual(
      await urls({ forRoutes: [Routes], exclude: ['hello'] }, ['/hello', '/nope', '/items/1']),
      ['/items/1'],
    );
  });

  it('follow the global prefix', async () => {
    const seen = await urls({ exclude: ['hello'] }, ['/v1/hello', '/hello', '/v1/items/1'], (app) =>
      app.setGlobalPrefix('v1'),
    );
    assert.deepEqual(seen, ['/hello', '/v1/items/1']);
  });

  it('alone have a line for the request that comes', async () => {
    await using server = await start(
      { exclude: ['hello'], customReceivedMessage: (request) => `came: ${request.method}` },
      { ...on, prepare: (app) => void app.enableVersioning({ type: VersioningType.URI }) },
    );
    for (const path of ['/hello', '/', '/items/1']) await (await fetch(server.url + path)).text();
    const lines = await server.lines.settled(2);
    const came = server.lines.all.filter((each) => each.msg?.startsWith('came'));
    assert.deepEqual(
      came.map((each) => each.reqId),
      lines.map((each) => each.reqId),
    );
  });
});

onEachPlatform('the level', (on) => {
  it('can be changed while the app runs, and every logger follows', async () => {
    await using server = await start({ level: 'warn' }, { ...on, nestLogger: true });
    const ask = async (): Promise<number> => {
      const before = server.lines.all.length;
      await (await fetch(`${server.url}/deep/x`)).text();
      const { socket } = await closed(server.url);
      socket?.destroy();
      return server.lines.all.length - before;
    };
    assert.equal(await ask(), 0);
    PinoLogger.root.level = 'info';
    assert.ok((await ask()) > 0);
    const logger = server.app.get(NestLogger);
    assert.equal(logger.level, 'info');
    logger.level = 'silent';
    assert.equal(await ask(), 0);
  });
});

function messageOf(line: Line | undefined): string | undefined {
  return (line?.['error'] as Error | undefined)?.message;
}

/** A request more, so that the one before has had its line. */
async function closed(url: string): Promise<{ socket?: { destroy(): void } }> {
  const { get } = await import('node:http');
  const [response] = (await once(get(`${url}/status/204`, { agent: false }), 'response')) as [
    IncomingMessage,
  ];
  response.resume();
  await once(response, 'end');
  return response;
}
