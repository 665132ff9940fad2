import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Controller, Get, Header, NotFoundException, Param, Post } from '@nestjs/common';
import { JsonCache } from '@redline/nest';
import { onBothFrameworks, startApp, until, type Framework, type TestApp } from './harness.ts';

let runs = 0;
let produce: () => unknown = () => ({ runs: (runs += 1) });

@Controller()
class HeadersController {
  @Get('item/:id')
  @JsonCache({ ttl: 60_000 })
  item(@Param('id') id: string): object {
    return { id };
  }

  @Get('own-etag')
  @JsonCache({ ttl: 60_000 })
  @Header('etag', '"own"')
  ownEtag(): object {
    return { runs: (runs += 1) };
  }

  @Get('stale')
  @JsonCache({ ttl: 20, stale: 60_000 })
  stale(): unknown {
    return produce();
  }

  @Post('item')
  write(): object {
    return {};
  }
}

const start = (framework: Framework): Promise<TestApp> =>
  startApp(framework, [HeadersController], { headers: ['x-cache', 'age', 'etag'] });

onBothFrameworks('The headers of a cached route', (framework) => {
  it('say where the answer is from, and how old it is', async (t) => {
    const test = await start(framework);
    const seen = async (init?: RequestInit): Promise<(string | null)[]> => {
      const { headers } = await test.fetch('/item/1', init);
      return [headers.get('x-cache'), headers.get('age')];
    };
    let now = Date.now();
    // A clock that stands: a busy machine would add to the age.
    t.mock.method(Date, 'now', () => now);
    assert.deepEqual(await seen(), ['MISS', null]);
    now += 7_500;
    assert.deepEqual(await seen(), ['HIT', '7']);
    assert.deepEqual(await seen({ method: 'HEAD' }), ['HIT', '7']);
    assert.deepEqual(await seen({ headers: { authorization: 'me' } }), ['BYPASS', null]);
    await test.stop();
  });

  it('are not given where the module names none', async () => {
    const test = await startApp(framework, [HeadersController]);
    for (let i = 0; i < 2; i++) {
      const { headers } = await test.fetch('/item/1');
      assert.equal(headers.get('x-cache') ?? headers.get('age'), null);
    }
    await test.stop();
  });

  it('have an ETag, and a request that names it a 304 without a body: on a miss, on a hit, for HEAD', async () => {
    const test = await start(framework);
    const first = await test.fetch('/item/1');
    const etag = first.headers.get('etag') as string;
    assert.match(etag, /^"[\w-]{27}"$/);
    assert.equal((await test.fetch('/item/1')).headers.get('etag'), etag);
    for (const named of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await test.fetch('/item/1', { method, headers: { 'if-none-match': named } });
        assert.equal(answer.status, 304, `${method} ${named}`);
        assert.equal(await answer.text(), '');
        assert.equal(answer.headers.get('etag'), etag);
      }
    }
    const other = await test.fetch('/item/2', { headers: { 'if-none-match': etag } });
    assert.equal(other.status, 200);
    assert.equal(await other.text(), '{"id":"2"}');
    await test.cache.clear();
    const missed = await test.fetch('/item/1', { headers: { 'if-none-match': etag } });
    assert.equal(missed.status, 304);
    assert.equal(missed.headers.get('x-cache'), 'MISS');
    await test.stop();
  });

  it('keep an ETag of the handler', async () => {
    const test = await start(framework);
    for (let i = 0; i < 2; i++)
      assert.equal((await test.fetch('/own-etag')).headers.get('etag'), '"own"');
    const answer = await test.fetch('/own-etag', { headers: { 'if-none-match': '"own"' } });
    assert.equal(answer.status, 304);
    await test.stop();
  });

  it('say STALE while one request makes a new answer, and where its handler fails', async (t) => {
    const test = await start(framework);
    const realNow = Date.now.bind(Date);
    let aheadMs = 0;
    t.mock.method(Date, 'now', () => realNow() + aheadMs);
    const ask = async (): Promise<string> => {
      const answer = await test.fetch('/stale');
      return `${answer.status} ${answer.headers.get('x-cache')} ${await answer.text()}`;
    };
    produce = () => ({ run: 1 });
    assert.equal(await ask(), '200 MISS {"run":1}');
    const { promise, resolve } = Promise.withResolvers<object>();
    let isRunning = false;
    produce = () => {
      isRunning = true;
      return promise;
    };
    aheadMs += 50;
    const renewing = ask();
    await until('the handler runs', () => isRunning);
    assert.equal(await ask(), '200 STALE {"run":1}');
    resolve({ run: 2 });
    assert.equal(await renewing, '200 MISS {"run":2}');
    aheadMs += 50;
    produce = () => {
      throw new Error('the database is away');
    };
    assert.equal(await ask(), '200 STALE {"run":2}');
    produce = () => {
      throw new NotFoundException();
    };
    assert.match(await ask(), /^404 /);
    await test.stop();
  });
});
