import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  InternalServerErrorException,
  Next,
  Redirect,
  Req,
  Res,
  Sse,
  StreamableFile,
  type INestApplication,
  type MessageEvent,
} from '@nestjs/common';
import { JsonCache, type CacheRequest } from '@redline/nest';
import { of, type Observable } from 'rxjs';
import { linesOf, onBothFrameworks, startApp, type Framework, type TestApp } from './harness.ts';

interface AnyResponse {
  status(code: number): AnyResponse;
  header(name: string, value: string): AnyResponse;
  send(body: unknown): AnyResponse;
  redirect(url: string): AnyResponse;
}

let runs = 0;

@Controller()
class UnsharedController {
  @Get('cookie')
  @JsonCache()
  async cookie(@Res({ passthrough: true }) response: AnyResponse): Promise<object> {
    const run = (runs += 1);
    // Long enough for the others to ask meanwhile.
    await sleep(20);
    response.header('set-cookie', `run=${run}`);
    return { run };
  }

  @Get('not-found')
  @JsonCache()
  notFound(@Res({ passthrough: true }) response: AnyResponse): object {
    response.status(404);
    return { run: (runs += 1) };
  }

  @Get('cache-control')
  @JsonCache()
  cacheControl(
    @Req() request: CacheRequest,
    @Res({ passthrough: true }) response: AnyResponse,
  ): object {
    response.header('cache-control', decodeURIComponent(request.originalUrl.split('?')[1]!));
    return { run: (runs += 1) };
  }

  @Get('vary-all')
  @JsonCache()
  varyAll(@Res({ passthrough: true }) response: AnyResponse): object {
    response.header('vary', '*');
    return { run: (runs += 1) };
  }

  @Get('error')
  @JsonCache()
  error(): object {
    throw new InternalServerErrorException(`run ${(runs += 1)}`);
  }

  @Get('taken')
  @JsonCache()
  taken(@Res() response: AnyResponse): void {
    response.status(200).send({ run: (runs += 1) });
  }

  @Get('taken-later')
  @JsonCache()
  takenLater(@Res() response: AnyResponse, @Next() _next: unknown): void {
    setTimeout(() => response.status(200).send({ run: (runs += 1) }), 10);
  }

  @Get('moved')
  @Redirect('/elsewhere')
  @JsonCache()
  moved(): object {
    return { url: `/elsewhere/${(runs += 1)}` };
  }

  @Get('moved-by-hand')
  @JsonCache()
  movedByHand(@Res() response: AnyResponse): void {
    response.status(302).redirect(`/elsewhere/${(runs += 1)}`);
  }

  @Sse('events')
  @JsonCache()
  events(): Observable<MessageEvent> {
    return of({ data: { run: (runs += 1) } });
  }
}

@Controller()
class NotJsonController {
  @Get('string')
  @JsonCache()
  string(): string {
    return '{}';
  }

  @Get('buffer')
  @JsonCache()
  buffer(): Buffer {
    return Buffer.from('{}');
  }

  @Get('stream')
  @JsonCache()
  stream(): Readable {
    return Readable.from(['{}']);
  }

  @Get('file')
  @JsonCache()
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('{}'));
  }

  @Get('undefined')
  @JsonCache()
  undefined(): void {}

  @Get('circular')
  @JsonCache()
  circular(): object {
    const value: Record<string, unknown> = {};
    value.self = value;
    return value;
  }

  @Get('bigint')
  @JsonCache()
  bigint(): object {
    return { id: 1n };
  }
}

@Controller()
class PlainNotJsonController {
  @Get('string')
  string(): string {
    return '{}';
  }

  @Get('buffer')
  buffer(): Buffer {
    return Buffer.from('{}');
  }

  @Get('stream')
  stream(): Readable {
    return Readable.from(['{}']);
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('{}'));
  }

  @Get('undefined')
  undefined(): void {}

  @Get('circular')
  circular(): object {
    const value: Record<string, unknown> = {};
    value.self = value;
    return value;
  }

  @Get('bigint')
  bigint(): object {
    return { id: 1n };
  }
}

onBothFrameworks('What is never stored', (framework) => {
  let app: TestApp;
  before(async () => {
    app = await startApp(framework, [UnsharedController]);
  });
  after(() => app.stop());

  it('is an answer that sets a cookie: each caller gets an answer and a cookie of its own', async () => {
    runs = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.fetch('/cookie')));
    const pairs = await Promise.all(
      answers.map(async (answer) => `${answer.headers.get('set-cookie')} ${await answer.text()}`),
    );
    assert.equal(runs, 10);
    assert.equal(new Set(pairs).size, 10);
    for (const pair of pairs) assert.match(pair, /^run=(\d+) \{"run":\1\}$/);
    assert.equal(app.cache.stats.unshared, 10);
  });

  it('is an answer with a status outside 2xx', async () => {
    runs = 0;
    for (const run of [1, 2]) {
      const answer = await app.fetch('/not-found');
      assert.equal(answer.status, 404);
      assert.equal(await answer.text(), `{"run":${run}}`);
    }
  });

  for (const header of [
    'no-store',
    'private, max-age=60',
    'no-cache',
    'max-age=0, must-revalidate',
    'max-age=60, s-maxage=0',
  ]) {
    it(`is an answer that says Cache-Control: ${header}`, async () => {
      runs = 0;
      for (const run of [1, 2]) {
        const answer = await app.fetch(`/cache-control?${encodeURIComponent(header)}`);
        assert.equal(answer.headers.get('cache-control'), header);
        assert.equal(await answer.text(), `{"run":${run}}`);
      }
    });
  }

  it('is an answer that varies by everything', async () => {
    assert.notEqual(await app.text('/vary-all'), await app.text('/vary-all'));
  });

  it('is an exception', async () => {
    runs = 0;
    assert.equal((await app.fetch('/error')).status, 500);
    assert.equal((await app.fetch('/error')).status, 500);
    assert.equal(runs, 2);
  });

  for (const path of ['/taken', '/taken-later']) {
    it(`is an answer that the handler sends itself: ${path}`, async () => {
      runs = 0;
      assert.equal(await app.text(path), '{"run":1}');
      assert.equal(await app.text(path), '{"run":2}');
    });
  }

  for (const path of ['/moved', '/moved-by-hand']) {
    it(`is a redirect: ${path}`, async () => {
      runs = 0;
      for (const run of [1, 2]) {
        const answer = await app.fetch(path, { redirect: 'manual' });
        assert.equal(answer.status, 302);
        assert.equal(answer.headers.get('location'), `/elsewhere/${run}`);
      }
    });
  }

  it('is a stream of events', async () => {
    runs = 0;
    assert.match(await app.text('/events'), /data: \{"run":1\}/);
    assert.match(await app.text('/events'), /data: \{"run":2\}/);
  });

  it('is nothing the store has ever seen', () => {
    assert.equal(app.cache.stats.stores, 0);
  });
});

onBothFrameworks('A result that is not JSON', (framework) => {
  for (const [method, said] of [
    ['string', 'its result is a string'],
    ['buffer', 'its result is a Buffer'],
    ['stream', 'its result is a stream (Readable)'],
    ['file', 'its result is a stream (StreamableFile)'],
    ['undefined', 'its result is undefined'],
    ['circular', 'its result does not serialise: Converting circular structure to JSON'],
    ['bigint', 'its result does not serialise: Do not know how to serialize a BigInt'],
  ] as const) {
    it(`goes out as it would uncached, and the log says so once: ${method}`, async (t) => {
      const lines = linesOf(t, 'warn');
      const [cached, plain] = [
        await startApp(framework, [NotJsonController]),
        await startApp(framework, [PlainNotJsonController]),
      ];
      const expected = await plain.fetch(`/${method}`);
      const body = await expected.text();
      for (let i = 0; i < 2; i++) {
        const answer = await cached.fetch(`/${method}`);
        assert.equal(answer.status, expected.status);
        assert.equal(answer.headers.get('content-type'), expected.headers.get('content-type'));
        assert.equal(await answer.text(), body);
      }
      assert.equal(cached.cache.stats.stores, 0);
      await Promise.all([cached.stop(), plain.stop()]);
      assert.equal(lines.length, 1, lines.join('\n'));
      const route = `GET /${method} (NotJsonController.${method})`;
      const [line] = lines as [string];
      assert.ok(line.startsWith(`A response of ${route} goes out uncached: ${said}`), line);
    });
  }
});

describe('A cookie that @fastify/cookie has not made a header yet', () => {
  it('keeps the answer from being shared', async () => {
    @Controller()
    class PendingController {
      @Get('pending')
      @JsonCache()
      pending(@Res({ passthrough: true }) reply: Record<symbol, unknown>): object {
        reply[Symbol('fastify.reply.setCookies')] = new Map([['run', {}]]);
        return { run: (runs += 1) };
      }
    }
    const app = await startApp('fastify', [PendingController]);
    assert.notEqual(await app.text('/pending'), await app.text('/pending'));
    await app.stop();
  });
});

describe('A framework with JSON settings of its own', () => {
  const sayBoth = async (
    framework: Framework,
    prepare: (app: INestApplication) => void,
  ): Promise<void> => {
    @Controller()
    class SettingsController {
      @Get('plain')
      plain(): object {
        return { html: '<b>&</b>' };
      }

      @Get('cached')
      @JsonCache()
      cached(): object {
        return { html: '<b>&</b>' };
      }
    }
    const app = await startApp(framework, [SettingsController], {}, prepare);
    const plain = await app.text('/plain');
    assert.notEqual(plain, JSON.stringify({ html: '<b>&</b>' }));
    assert.equal(await app.text('/cached'), plain);
    assert.equal(await app.text('/cached'), plain);
    await app.stop();
  };

  it('is followed: json spaces and json escape of Express', () =>
    sayBoth('express', (app) =>
      app.getHttpAdapter().getInstance().set('json spaces', 2).set('json escape', true),
    ));

  it('is followed: the reply serializer of Fastify', () =>
    sayBoth('fastify', (app) =>
      app
        .getHttpAdapter()
        .getInstance()
        .setReplySerializer((value: unknown) => JSON.stringify(value, null, 1)),
    ));
});
