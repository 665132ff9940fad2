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
import { linesOf, onBothFrameworks, startApp, type TestApp } from './harness.ts';

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
    // Long enough for the others to ask meanwhile.
    await sleep(20);
    return { for: request.headers.authorization ?? request.headers.cookie ?? 'anyone' };
  }

  @Get('guarded')
  @UseGuards(KeyGuard)
  @JsonCache({ identify: 'public' })
  guarded(@Req() request: CacheRequest): object {
    return { for: request.user ?? 'anyone' };
  }

  @Get('private')
  @UseGuards(KeyGuard)
  @JsonCache()
  private(@Req() request: CacheRequest): object {
    return { for: request.user ?? 'anyone', run: (runs += 1) };
  }

  @Get('by-header')
  @JsonCache({ identify: { header: 'X-Device' } })
  byHeader(): object {
    return { run: (runs += 1) };
  }

  @Get('by-cookie')
  @JsonCache({ identify: { cookie: 'session' } })
  byCookie(): object {
    return { run: (runs += 1) };
  }

  @Get('cookies')
  @JsonCache({ cookies: 'ignore' })
  cookies(): object {
    return { run: (runs += 1) };
  }

  @Get('varied')
  @JsonCache({ vary: ['Accept-Language'] })
  varied(@Req() request: CacheRequest): object {
    return { language: request.headers['accept-language'] ?? null, run: (runs += 1) };
  }

  @Get('query')
  @JsonCache({ query: ['page', 'tag'] })
  query(@Req() request: CacheRequest): object {
    return { url: request.originalUrl, run: (runs += 1) };
  }

  @Get('identified')
  @JsonCache({ identify: (request) => request.headers.authorization })
  async identified(@Req() request: CacheRequest): Promise<object> {
    runs += 1;
    // Long enough for the others to ask meanwhile.
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

  @Get('list')
  @JsonCache()
  list(): object {
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

  @Get('bad-tags')
  @JsonCache({ tags: () => 'article' as never })
  badTags(): object {
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

  it('does nothing behind a guard, and says so at the start, until the route names its callers', async (t) => {
    const lines = linesOf(t, 'warn');
    const other = await startApp(framework, [CallersController]);
    assert.notEqual(await other.text('/private'), await other.text('/private'));
    assert.equal(other.cache.stats.stores, 0);
    await other.stop();
    assert.deepEqual(lines, [
      "@JsonCache does nothing on GET /private (CallersController.private): KeyGuard decides who has access, and nothing says whose the responses are. Set identify to 'public' if everyone with access gets the same response, otherwise to a header, a cookie or a function that names the caller.",
    ]);
  });

  for (const header of ['x-api-key', 'X-Auth-Token', 'x-tenant-id', 'proxy-authorization']) {
    it(`takes ${header} for credentials`, async () => {
      const earlier = app.cache.stats.private;
      const ask = (): Promise<string> => app.text('/list', { headers: { [header]: 'k1' } });
      assert.notEqual(await ask(), await ask());
      assert.equal(app.cache.stats.private, earlier + 2);
    });
  }

  const behind = (
    middleware: (request: Record<string, unknown>, response: { locals: object }) => void,
  ): Promise<TestApp> =>
    startApp(framework, [CallersController], {}, (nest) =>
      nest.use((request: never, response: never, next: () => void) => {
        middleware(request, response);
        next();
      }),
    );

  for (const [property, value] of [
    ['user', { id: 1 }],
    ['currentUser', { id: 1 }],
    ['userId', 0],
    ['auth', { id: 1 }],
    ['authInfo', {}],
    ['account', { id: 1 }],
    ['accountId', 7],
    ['principal', { name: 'ann' }],
    ['identity', 'ann'],
    ['claims', { sub: 'ann' }],
    ['tenant', { id: 1 }],
    ['tenantId', 'acme'],
    ['apiKey', 'k1'],
    ['token', 't1'],
    ['session', { cookie: {}, userId: 7 }],
  ] as const) {
    it(`takes request.${property} for credentials, which a middleware has set`, async () => {
      const other = await behind((request) => void (request[property] = value));
      assert.notEqual(await other.text('/list'), await other.text('/list'));
      assert.equal(other.cache.stats.private, 2);
      assert.equal(await other.text('/public'), await other.text('/public'));
      await other.stop();
    });
  }

  it('takes the property that Passport was told to put the user on for credentials', async () => {
    const other = await behind((request) => {
      request['_userProperty'] = 'visitor';
      if (String(request['url']).endsWith('?in')) request['visitor'] = { id: 1 };
    });
    assert.notEqual(await other.text('/list?in'), await other.text('/list?in'));
    assert.equal(await other.text('/list'), await other.text('/list'));
    await other.stop();
  });

  it('does not take a session without anything in it, nor a property that only is declared, for credentials', async () => {
    const other = await behind((request) => {
      Object.assign(request, { session: { cookie: {}, save() {} }, user: null, account: '' });
    });
    assert.equal(await other.text('/list'), await other.text('/list'));
    assert.equal(other.cache.stats.private, 0);
    await other.stop();
  });

  if (framework === 'express')
    it('takes what a middleware keeps in response.locals for credentials', async () => {
      const other = await behind((_request, { locals }) => {
        Object.assign(locals, { title: 'Shop', user: { id: 1 } });
      });
      assert.notEqual(await other.text('/list'), await other.text('/list'));
      await other.stop();
    });

  it('does not share what an interceptor has found out whom it is for, and says so', async (t) => {
    const lines = linesOf(t, 'warn');
    const other = await startApp(framework, [CallersController], {}, (nest) =>
      nest.useGlobalInterceptors({
        intercept(context, next) {
          context.switchToHttp().getRequest().account = { id: 1 };
          return next.handle();
        },
      }),
    );
    assert.notEqual(await other.text('/list'), await other.text('/list'));
    assert.equal(other.cache.stats.stores, 0);
    await other.stop();
    const said =
      'A response of GET /list (CallersController.list) goes out uncached: its request names a caller, and the route has no identify.';
    assert.equal(lines.filter((line) => line === said).length, 1, lines.join('\n'));
  });

  for (const place of ['the app', 'the controller', 'the method'] as const) {
    it(`shares nothing behind a guard of ${place}, wherever that puts the caller`, async () => {
      class NamingGuard implements CanActivate {
        canActivate(context: ExecutionContext): boolean {
          const request = context.switchToHttp().getRequest();
          request.member = request.headers['x-device'];
          return true;
        }
      }
      class MembersController {
        mine(request: { member?: string }): object {
          return { of: request.member };
        }
      }
      const own = Object.getOwnPropertyDescriptor(MembersController.prototype, 'mine')!;
      JsonCache()(MembersController.prototype, 'mine', own);
      Get('mine')(MembersController.prototype, 'mine', own);
      Req()(MembersController.prototype, 'mine', 0);
      if (place === 'the method') UseGuards(NamingGuard)(MembersController.prototype, 'mine', own);
      if (place === 'the controller') UseGuards(NamingGuard)(MembersController);
      Controller()(MembersController);
      const other = await startApp(framework, [MembersController], {}, (nest) => {
        if (place === 'the app') nest.useGlobalGuards(new NamingGuard());
      });
      for (const member of ['ann', 'bob'])
        assert.equal(
          await other.text('/mine', { headers: { 'x-device': member } }),
          `{"of":"${member}"}`,
        );
      assert.equal(other.cache.stats.stores, 0);
      await other.stop();
    });
  }

  it('is not kept from browsers by the cookies of analytics, but by any other', async () => {
    const analytics = '_ga=GA1.1.5; _ga_X1=GS1; _fbp=fb.1; OptanonConsent=x';
    const ask = (cookie: string): Promise<string> => app.text('/list', { headers: { cookie } });
    const first = await ask(analytics);
    assert.equal(await ask(analytics), first);
    assert.equal(await app.text('/list'), first);
    assert.notEqual(await ask(`${analytics}; cart=1`), first);
    for (const name of [
      'mp_session',
      'ph_session',
      'amp_auth',
      'ajs_user_id',
      '_gateway',
      '_li_at',
    ])
      assert.notEqual(await ask(`${analytics}; ${name}=1`), first, name);
    const ignored = await app.text('/cookies', { headers: { cookie: 'cart=1' } });
    assert.equal(await app.text('/cookies', { headers: { cookie: 'cart=2' } }), ignored);
  });

  it('keeps an answer for each value of the header or the cookie that names the caller', async () => {
    for (const [path, header, value] of [
      ['/by-header', 'x-device', (name: string) => name],
      ['/by-cookie', 'cookie', (name: string) => `_ga=1; session=${name}; theme=dark`],
    ] as const) {
      const ask = (name: string): Promise<string> =>
        app.text(path, { headers: { [header]: value(name) } });
      const ann = await ask('ann');
      assert.equal(await ask('ann'), ann);
      assert.notEqual(await ask('bob'), ann);
      assert.notEqual(await app.text(path), await app.text(path), 'nobody is named');
    }
  });

  it('keeps an answer for each value of what it varies by', async () => {
    const ask = (language: string): Promise<string> =>
      app.text('/varied', { headers: { 'accept-language': language } });
    const german = await ask('de');
    assert.match(german, /"de"/);
    assert.match(await ask('fr'), /"fr"/);
    assert.equal(await ask('de'), german);
  });

  it('counts the parameters of query alone, in any order', async () => {
    const first = await app.text('/query?page=1&tag=a&tag=b&utm_source=x');
    assert.equal(await app.text('/query?utm_source=y&tag=a&tag=b&page=1'), first);
    assert.notEqual(await app.text('/query?page=1&tag=b&tag=a'), first);
    assert.notEqual(await app.text('/query?page=2&tag=a&tag=b'), first);
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

  it('refuses a key or a caller that is not a string, and tags that are not a list', async () => {
    const failures: string[] = [];
    app.app.useLogger({
      log() {},
      warn() {},
      error: (error: Error) => void failures.push(String(error)),
    });
    assert.equal((await app.fetch('/bad-key')).status, 500);
    assert.equal((await app.fetch('/bad-caller')).status, 500);
    assert.equal((await app.fetch('/bad-tags')).status, 500);
    app.app.useLogger(false);
    assert.match(
      failures[0]!,
      /The option key of GET \/bad-key \(CallersController\.badKey\) must return a string/,
    );
    assert.match(failures[1]!, /The option identify of GET \/bad-caller .* got null/);
    assert.match(
      failures[2]!,
      /The option tags of GET \/bad-tags .* a list of strings; got 'article'/,
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
