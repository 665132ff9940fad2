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
  Res,
  Sse,
  StreamableFile,
  type INestApplication,
  type MessageEvent,
} from '@nestjs/common';
import { JsonCache } from '@redline/nest';
import { of, type Observable } from 'rxjs';
import { onBothFrameworks, startApp, type Framework, type TestApp } from './harness.ts';

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

  @Get('created')
  @JsonCache()
  created(@Res({ passthrough: true }) response: AnyResponse): object {
    response.status(201);
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

  it('is an answer with a status a hit would not have', async () => {
    runs = 0;
    for (const run of [1, 2]) {
      const answer = await app.fetch('/created');
      assert.equal(answer.status, 201);
      assert.equal(await answer.text(), `{"run":${run}}`);
    }
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

onBothFrameworks('A result that is no JSON', (framework) => {
  const failures: string[] = [];
  let app: TestApp;
  before(async () => {
    app = await startApp(framework, [NotJsonController]);
    app.app.useLogger({
      log() {},
      warn() {},
      error: (error: Error & { code?: string }) =>
        void failures.push(`${error.code} ${error.message}`),
    });
  });
  after(async () => {
    app.app.useLogger(false);
    await app.stop();
  });

  for (const [method, said] of [
    ['string', 'the producer returned a string'],
    ['buffer', 'the producer returned a Buffer'],
    ['stream', 'the producer returned a stream (Readable)'],
    ['file', 'the producer returned a stream (StreamableFile)'],
    ['undefined', 'the producer returned undefined'],
    ['circular', 'does not serialise: Converting circular structure to JSON'],
    ['bigint', 'does not serialise: Do not know how to serialize a BigInt'],
  ] as const) {
    it(`is an error that names the route: ${method}`, async () => {
      failures.length = 0;
      assert.equal((await app.fetch(`/${method}`)).status, 500);
      assert.equal(failures.length, 1);
      const [failure] = failures as [string];
      const route = `GET /${method} (NotJsonController.${method})`;
      assert.ok(
        failure.startsWith(
          `ERR_REDLINE_CACHE_NOT_JSON The answer of ${route} cannot be cached as JSON: `,
        ),
        failure,
      );
      assert.ok(failure.includes(said), failure);
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
