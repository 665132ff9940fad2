import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { after, before, it } from 'node:test';
import {
  All,
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { JsonCache } from '@redline/nest';
import { of, throwError } from 'rxjs';
import { onBothFrameworks, startApp, until, type TestApp } from './harness.ts';

const article = {
  id: 7,
  title: 'naïve café 日本語 😀 \u2028 "quoted" <b>&</b>',
  tags: [],
  author: null,
  price: 0.1,
};
let runs = 0;

let waiting = 0;

@Injectable()
class Counting implements CanActivate {
  canActivate(): boolean {
    waiting += 1;
    return true;
  }
}

@Controller()
class AnswersController {
  @Get('plain')
  plain(): object {
    return article;
  }

  @Get('cached')
  @JsonCache({ ttl: 60_000 })
  cached(): object {
    runs += 1;
    return article;
  }

  @Get('list')
  @JsonCache()
  list(@Query('page') page: string): Promise<object> {
    runs += 1;
    return Promise.resolve([{ page }]);
  }

  @Get('observable')
  @JsonCache()
  observable(): unknown {
    runs += 1;
    return of({ emitted: 1 }, { emitted: 2 });
  }

  @Get('short')
  @JsonCache({ ttl: 50 })
  short(): object {
    return { run: (runs += 1) };
  }

  @Get('slow/:id')
  @UseGuards(Counting)
  @JsonCache({ identify: 'public', ttl: 60_000 })
  async slow(@Param('id') id: string): Promise<object> {
    runs += 1;
    await until('all callers to wait', () => waiting >= 200);
    return { id };
  }

  @Get('fails')
  @UseGuards(Counting)
  @JsonCache({ identify: 'public' })
  async fails(): Promise<object> {
    const run = (runs += 1);
    await until('all callers to wait', () => waiting >= 10);
    throw new NotFoundException(`run ${run}`);
  }

  @Get('fails-observable')
  @JsonCache()
  failsObservable(): unknown {
    return throwError(() => new NotFoundException('observed'));
  }

  @Get('stops')
  @UseGuards(Counting)
  @JsonCache({ identify: 'public' })
  async stops(@Req() request: { raw?: IncomingMessage } & IncomingMessage): Promise<object> {
    const run = (runs += 1);
    const { socket } = request.raw ?? request;
    if (run > 1) return { run };
    await once(socket, 'close');
    throw new Error('nobody is there');
  }

  @Get('plain-null')
  plainNull(): null {
    return null;
  }

  @Get('null')
  @JsonCache()
  null(): null {
    runs += 1;
    return null;
  }

  @Get('headers')
  @Header('cache-control', 'max-age=5')
  @Header('content-type', 'application/vnd.api+json; charset=utf-8')
  @HttpCode(203)
  @JsonCache()
  headers(): object {
    runs += 1;
    return { headers: true };
  }

  @Post('cached')
  @HttpCode(200)
  @JsonCache()
  post(): object {
    return { run: (runs += 1) };
  }

  @All('any')
  @JsonCache()
  any(): object {
    return { run: (runs += 1) };
  }
}

onBothFrameworks('A cached route', (framework) => {
  let app: TestApp;
  before(async () => {
    app = await startApp(framework, [AnswersController]);
  });
  after(() => app.stop());

  it('answers a miss and a hit with the bytes and headers of an uncached route', async () => {
    const [plain, miss, hit] = [
      await app.fetch('/plain'),
      await app.fetch('/cached'),
      await app.fetch('/cached'),
    ];
    const expected = Buffer.from(await plain.arrayBuffer());
    assert.equal(expected.toString(), JSON.stringify(article));
    for (const answer of [miss, hit]) {
      assert.equal(answer.status, 200);
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), expected);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
      for (const name of ['content-type', 'content-length', 'etag']) {
        assert.equal(answer.headers.get(name), plain.headers.get(name), name);
      }
    }
    assert.ok(app.cache.stats.hits >= 1);
  });

  it('runs its handler once, and again for another query string', async () => {
    runs = 0;
    assert.equal(await app.text('/list?page=1'), '[{"page":"1"}]');
    assert.equal(await app.text('/list?page=1'), '[{"page":"1"}]');
    assert.equal(runs, 1);
    assert.equal(await app.text('/list?page=2'), '[{"page":"2"}]');
    assert.equal(runs, 2);
  });

  it('answers 200 requests at once with one run of its handler', async () => {
    runs = 0;
    waiting = 0;
    const earlier = app.cache.stats;
    const answers = await Promise.all(Array.from({ length: 200 }, () => app.text('/slow/1')));
    assert.deepEqual(new Set(answers), new Set(['{"id":"1"}']));
    assert.equal(runs, 1);
    const { misses, shared, hits } = app.cache.stats;
    assert.equal(misses - earlier.misses, 1);
    assert.equal(shared - earlier.shared + hits - earlier.hits, 199);
  });

  it('takes the last value of an Observable', async () => {
    runs = 0;
    assert.equal(await app.text('/observable'), '{"emitted":2}');
    assert.equal(await app.text('/observable'), '{"emitted":2}');
    assert.equal(runs, 1);
  });

  it('runs its handler again once the time is up', async (t) => {
    const first = await app.text('/short');
    const realNow = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => realNow() + 50);
    assert.notEqual(await app.text('/short'), first);
  });

  it('gives an exception to its own caller, one more run to those who waited, and stores nothing', async () => {
    runs = 0;
    waiting = 0;
    const answers = await Promise.all(Array.from({ length: 10 }, () => app.fetch('/fails')));
    const messages = await Promise.all(
      answers.map(async (answer) => {
        assert.equal(answer.status, 404);
        return ((await answer.json()) as { message: string }).message;
      }),
    );
    assert.deepEqual(messages.toSorted(), ['run 1', ...Array.from({ length: 9 }, () => 'run 2')]);
    assert.equal((await app.fetch('/fails')).status, 404);
    assert.equal(runs, 3);
    assert.equal((await app.fetch('/fails-observable')).status, 404);
  });

  it('serves those who waited for a client that has left, whose handler stopped', async () => {
    runs = 0;
    waiting = 0;
    const leaving = new AbortController();
    const left = app.fetch('/stops', { signal: leaving.signal });
    await until('the first run', () => runs === 1);
    const others = Promise.all(Array.from({ length: 20 }, () => app.text('/stops')));
    await until('the others to wait', () => waiting === 21);
    leaving.abort();
    await assert.rejects(left);
    assert.deepEqual(new Set(await others), new Set(['{"run":2}']));
    assert.equal(runs, 2);
  });

  it('answers HEAD without a body, from what GET has', async () => {
    runs = 0;
    assert.equal(await app.text('/list?page=head'), '[{"page":"head"}]');
    const head = await app.fetch('/list?page=head', { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), '');
    assert.equal(head.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(head.headers.get('content-length'), '17');
    assert.equal(runs, 1);
  });

  it('answers null as an uncached route does, and caches it', async () => {
    runs = 0;
    const plain = await app.fetch('/plain-null');
    const expected = await plain.text();
    for (let i = 0; i < 2; i++) {
      const answer = await app.fetch('/null');
      assert.equal(answer.status, plain.status);
      assert.equal(await answer.text(), expected);
      assert.equal(answer.headers.get('content-type'), plain.headers.get('content-type'));
    }
    assert.equal(runs, 1);
  });

  it('repeats the status and headers its decorators set', async () => {
    runs = 0;
    for (let i = 0; i < 2; i++) {
      const answer = await app.fetch('/headers');
      assert.equal(answer.status, 203);
      assert.equal(answer.headers.get('cache-control'), 'max-age=5');
      assert.match(
        answer.headers.get('content-type') ?? '',
        /^application\/vnd\.api\+json; ?charset=utf-8$/,
      );
      assert.equal(await answer.text(), '{"headers":true}');
    }
    assert.equal(runs, 1);
  });

  it('answers nothing but GET and HEAD from the cache', async () => {
    const post = (path: string): Promise<string> => app.text(path, { method: 'POST' });
    assert.notEqual(await post('/cached'), await post('/cached'));
    assert.notEqual(await post('/any'), await post('/any'));
    assert.equal(await app.text('/any'), await app.text('/any'));
  });
});
