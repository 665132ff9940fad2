import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Controller,
  Get,
  Injectable,
  Req,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { JsonCache, type CacheRequest } from '@redline/nest';
import { onBothFrameworks, startApp, type TestApp } from './harness.ts';

let runs = 0;

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest();
    if (request.headers['x-api-key'] !== undefined)
      request.user = { id: request.headers['x-api-key'] };
    return request.headers['x-api-key'] !== 'wrong';
  }
}

@Controller()
class CallersController {
  @Get('mine')
  @JsonCache()
  async mine(@Req() request: CacheRequest): Promise<object> {
    runs += 1;
    await sleep(20);
    return { for: request.headers.authorization ?? request.headers.cookie ?? 'anyone' };
  }

  @Get('guarded')
  @UseGuards(KeyGuard)
  @JsonCache()
  guarded(@Req() request: CacheRequest): object {
    return { for: request.user ?? 'anyone' };
  }

  @Get('identified')
  @JsonCache({ identify: (request) => request.headers.authorization })
  async identified(@Req() request: CacheRequest): Promise<object> {
    runs += 1;
    await sleep(20);
    return { for: request.headers.authorization ?? 'nobody', run: runs };
  }

  @Get('public')
  @JsonCache({ identify: 'public' })
  public(): object {
    return { run: (runs += 1) };
  }

  @Get('fixed')
  @JsonCache({ key: 'fixed' })
  fixed(): object {
    return { run: (runs += 1) };
  }

  @Get('by-language')
  @JsonCache({
    key: (request: CacheRequest) => `greeting:${String(request.headers['accept-language'])}`,
  })
  byLanguage(@Req() request: CacheRequest): object {
    return { language: request.headers['accept-language'], run: (runs += 1) };
  }

  @Get('bad-key')
  @JsonCache({ key: () => 7 as unknown as string })
  badKey(): object {
    return {};
  }

  @Get('bad-caller')
  @JsonCache({ identify: () => null as unknown as string })
  badCaller(): object {
    return {};
  }
}

onBothFrameworks('A cached route and its callers', (framework) => {
  let app: TestApp;
  before(async () => {
    app = await startApp(framework, [CallersController]);
  });
  after(() => app.stop());
  const as = (name: string): RequestInit => ({ headers: { authorization: name } });

  for (const header of ['authorization', 'cookie']) {
    it(`never shares an answer to a request with ${header}, nor answers it from the cache`, async () => {
      runs = 0;
      const names = ['alice', 'alice', 'bob'];
      const answers = await Promise.all(
        names.map((name) => app.text('/mine', { headers: { [header]: name } })),
      );
      assert.deepEqual(
        answers,
        names.map((name) => `{"for":"${name}"}`),
      );
      assert.equal(runs, 3, 'no single flight');
      assert.equal(await app.text('/mine?anyone'), '{"for":"anyone"}');
      assert.equal(
        await app.text('/mine?anyone', { headers: { [header]: 'carol' } }),
        '{"for":"carol"}',
      );
      assert.equal(await app.text('/mine?anyone'), '{"for":"anyone"}');
    });
  }

  it('takes a user that a guard has set for credentials', async () => {
    assert.equal(await app.text('/guarded'), '{"for":"anyone"}');
    assert.equal(
      await app.text('/guarded', { headers: { 'x-api-key': 'k1' } }),
      '{"for":{"id":"k1"}}',
    );
    assert.equal(
      await app.text('/guarded', { headers: { 'x-api-key': 'k2' } }),
      '{"for":{"id":"k2"}}',
    );
  });

  it('runs its guards before a hit', async () => {
    assert.equal((await app.fetch('/guarded')).status, 200);
    assert.equal((await app.fetch('/guarded', { headers: { 'x-api-key': 'wrong' } })).status, 403);
  });

  it('keeps an answer for each caller that identify names', async () => {
    runs = 0;
    const [alice, again, bob] = await Promise.all([
      app.text('/identified', as('alice')),
      app.text('/identified', as('alice')),
      app.text('/identified', as('bob')),
    ]);
    assert.equal(runs, 2, 'one run for each caller');
    assert.equal(again, alice);
    assert.match(alice, /alice/);
    assert.match(bob, /bob/);
    assert.equal(await app.text('/identified', as('alice')), alice);
    assert.equal(await app.text('/identified', as('bob')), bob);
    assert.equal(runs, 2);
  });

  it('does not cache for a caller whom identify does not name', async () => {
    assert.notEqual(await app.text('/identified'), await app.text('/identified'));
  });

  it('keeps callers apart though their names try to look like another key', async () => {
    await app.text('/identified', as('alice'));
    const forged = await app.text('/identified', as('5:alice:/identified'));
    assert.match(forged, /5:alice/);
  });

  it('shares with everyone where identify is public, credentials or not', async () => {
    const first = await app.text('/public', as('alice'));
    assert.equal(await app.text('/public', as('bob')), first);
    assert.equal(await app.text('/public', { headers: { cookie: 'a=1' } }), first);
    assert.equal(await app.text('/public'), first);
  });

  it('takes its key from key, a string or a function', async () => {
    assert.equal(await app.text('/fixed?a=1'), await app.text('/fixed?a=2'));
    const english = { headers: { 'accept-language': 'en' } };
    const french = { headers: { 'accept-language': 'fr' } };
    assert.equal(
      await app.text('/by-language', english),
      await app.text('/by-language?x', english),
    );
    assert.match(await app.text('/by-language', french), /"fr"/);
  });

  it('refuses a key or a caller that is no string', async () => {
    const failures: string[] = [];
    app.app.useLogger({
      log() {},
      warn() {},
      error: (error: Error) => void failures.push(String(error)),
    });
    assert.equal((await app.fetch('/bad-key')).status, 500);
    assert.equal((await app.fetch('/bad-caller')).status, 500);
    app.app.useLogger(false);
    assert.match(
      failures[0]!,
      /The option key of @JsonCache on GET \/bad-key \(CallersController\.badKey\) must return a string/,
    );
    assert.match(
      failures[1]!,
      /The option identify of @JsonCache on GET \/bad-caller .* returned null/,
    );
  });

  it('forgets what the service deletes: the answer of one caller, or the shared one', async () => {
    const shared = await app.text('/public');
    await app.cache.delete('/public');
    assert.notEqual(await app.text('/public'), shared);
    const [alice, bob] = [
      await app.text('/identified', as('alice')),
      await app.text('/identified', as('bob')),
    ];
    await app.cache.delete('/identified', 'alice');
    assert.notEqual(await app.text('/identified', as('alice')), alice);
    assert.equal(await app.text('/identified', as('bob')), bob);
  });
});
