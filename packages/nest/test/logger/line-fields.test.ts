import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { leave, onEachPlatform, start } from './harness.js';
import { until } from '@redline/services/until';

const secret = {
  method: 'POST',
  headers: {
    authorization: 'Bearer secret',
    'proxy-authorization': 'secret',
    cookie: 'session=secret',
    'content-type': 'application/json',
    'user-agent': 'tester/1',
  },
  body: '{"userId":1}',
};

onEachPlatform('fields: "full"', (on) => {
  it('adds the route, the peer, the sizes and the headers', async () => {
    await using server = await start({ fields: 'full' }, on);
    await fetch(`${server.url}/items/7?a=1`, { headers: { 'user-agent': 'tester/1' } });
    const [line] = await server.lines.settled(1);
    assert.equal(line?.['route'], '/items/:id');
    assert.equal(line?.['remoteAddress'], '127.0.0.1');
    assert.equal(typeof line?.['remotePort'], 'number');
    assert.equal(line?.['host'], `127.0.0.1:${server.port}`);
    assert.equal(line?.['userAgent'], 'tester/1');
    assert.equal(line?.['responseLength'], 10);
    assert.equal(line?.['url'], '/items/7?a=1');
    const { req, res } = line as unknown as Record<
      'req' | 'res',
      { headers: Record<string, string> }
    >;
    assert.equal(req.headers['user-agent'], 'tester/1');
    assert.equal(res.headers['content-length'], '10');
  });

  it('censors credentials', async () => {
    await using server = await start(
      { fields: 'full' },
      {
        prepare: (app) =>
          void app
            .getHttpAdapter()
            .getInstance()
            .addHook('onRequest', async (_request, reply) => {
              void reply.header('set-cookie', 'session=secret');
            }),
      },
    );
    await fetch(`${server.url}/deep`, secret);
    const [line] = await server.lines.settled(1);
    assert.equal(line?.['requestLength'], 12);
    assert.doesNotMatch(server.lines.raw.join(''), /secret/);
    const { req } = line as unknown as { req: { headers: Record<string, string> } };
    assert.equal(req.headers['authorization'], '[Redacted]');
  });

  it('works for a 404 and for a request that was not answered', async () => {
    await using server = await start({ fields: 'full' }, on);
    await fetch(`${server.url}/nope`);
    await leave(server.port, '/hang');
    const lines = await server.lines.settled(2);
    assert.deepEqual(
      lines.map((line) => [line['statusCode'], line['route']]),
      [
        [404, undefined],
        [null, '/hang'],
      ],
    );
  });
});

describe('redact', () => {
  it('adds paths to the default ones', async () => {
    await using server = await start({
      fields: 'full',
      redact: ['req.headers["user-agent"]', 'userAgent'],
    });
    await fetch(`${server.url}/deep`, secret);
    await server.lines.settled(1);
    assert.doesNotMatch(server.lines.raw.join(''), /secret|tester/);
  });

  it('takes a censor, or removes', async () => {
    await using server = await start({ fields: 'full', redact: { paths: ['url'], censor: '***' } });
    await using gone = await start({ fields: 'full', redact: { paths: ['url'], remove: true } });
    await fetch(`${server.url}/deep`, secret);
    await fetch(`${gone.url}/deep`, secret);
    const [censored] = await server.lines.settled(1);
    const [removed] = await gone.lines.settled(1);
    assert.equal(censored?.['url'], '***');
    assert.ok(removed !== undefined && !('url' in removed));
    assert.doesNotMatch([...server.lines.raw, ...gone.lines.raw].join(''), /secret/);
  });

  it('reaches a slim line too', async () => {
    await using server = await start({ redact: ['url'] });
    await fetch(`${server.url}/hello`);
    const [line] = await server.lines.settled(1);
    assert.equal(line?.['url'], '[Redacted]');
  });

  it('false censors nothing', async () => {
    await using server = await start({ fields: 'full', redact: false });
    await fetch(`${server.url}/deep`, secret);
    await server.lines.settled(1);
    assert.match(server.lines.raw.join(''), /Bearer secret/);
  });
});

describe('fields as a function', () => {
  it('is the line', async () => {
    await using server = await start({
      fields: (request, reply) => ({ path: request.url, code: reply.statusCode, responseTime: 1 }),
    });
    await fetch(`${server.url}/hello`);
    const [line] = await server.lines.settled(1);
    assert.deepEqual(
      [line?.['path'], line?.['code'], line?.['method']],
      ['/hello', 200, undefined],
    );
  });

  it('that throws leaves a slim line with the error', async () => {
    await using server = await start({
      fields: () => {
        throw new Error('fields broke');
      },
    });
    await fetch(`${server.url}/hello`);
    const [line] = await server.lines.settled(1);
    assert.equal(line?.['url'], '/hello');
    assert.equal(line?.err?.message, 'fields broke');
  });
});

describe('a slim line', () => {
  it('is what pino itself would have written', async () => {
    const pino = {
      base: { service: 'shop' },
      messageKey: 'message',
      msgPrefix: '[http] ',
    } as const;
    // A mixin that adds nothing sends the line through pino.
    await using straight = await start({ pino });
    await using through = await start({ pino: { ...pino, mixin: () => ({}) } });
    for (const server of [straight, through]) {
      await fetch(`${server.url}/hello?q=%22`, { headers: { 'x-request-id': 'same' } });
      await server.lines.settled(1);
    }
    const blank = (line: string | undefined): string | undefined =>
      line?.replace(/"time":\d+/, '"time":0').replace(/"responseTime":[\d.]+/, '"responseTime":0');
    assert.equal(blank(straight.lines.raw.at(-1)), blank(through.lines.raw.at(-1)));
    assert.match(
      straight.lines.raw.at(-1) ?? '',
      /"service":"shop".*"message":"\[http\] request completed"/,
    );
  });

  it('follows whatever pino was told: formatters, timestamp, serializers, nested keys', async () => {
    await using server = await start({
      pino: {
        formatters: {
          level: (label) => ({ severity: label }),
          log: (line) => ({ ...line, more: 1 }),
        },
        timestamp: () => ',"at":1',
        serializers: { url: () => 'hidden' },
        nestedKey: 'payload',
      },
    });
    await fetch(`${server.url}/hello`);
    await until('the line', () => server.lines.raw.length > 0);
    const line = server.lines.all[0] as unknown as Record<string, Record<string, unknown>>;
    assert.deepEqual([line['severity'], line['at']], ['info', 1]);
    assert.deepEqual([line['payload']?.['url'], line['payload']?.['more']], ['hidden', 1]);
  });
});
