import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { readApp } from '../../src/doctor/app/read-app.ts';
import { edited } from '../../src/doctor/edits.ts';
import { examine, type Examined } from '../../src/doctor/examine.ts';

const app = `import { CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LoggerModule } from 'nestjs-pino';
import { connect, keyvOver } from './redis.js';

@Controller()
class Feed {
  @Get('feed')
  @UseInterceptors(CacheInterceptor)
  @CacheTTL(60_000)
  feed() {
    return [];
  }
}

@Module({
  imports: [
    LoggerModule.forRoot({ pinoHttp: {} }),
    CacheModule.register({ stores: keyvOver(connect()) }),
  ],
  controllers: [Feed],
})
class AppModule {}

const app = await NestFactory.create(AppModule);
await app.listen(3000);
`;

const redis = `import { Redis } from 'ioredis';
import { Keyv } from 'keyv';
export function connect(): Redis | undefined {
  return process.env.REDIS_URL ? new Redis(process.env.REDIS_URL) : undefined;
}
export const keyvOver = (client: Redis | undefined): Keyv => new Keyv({ store: client });
`;

function found(t: TestContext, main: string, other = redis): Examined[] {
  const folder = mkdtempSync(join(tmpdir(), 'redline-doctor-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const dependencies = {
    '@nestjs/core': '12',
    '@nestjs/common': '12',
    '@nestjs/platform-fastify': '12',
  };
  const files = {
    'package.json': JSON.stringify({ dependencies }),
    'src/main.ts': main,
    'src/redis.ts': other,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return examine(readApp(folder, undefined));
}

function changed(all: Examined[], ...rules: string[]): string {
  const edits = all
    .filter(({ finding }) => rules.includes(finding.rule))
    .flatMap((each) => each.edits)
    .filter(({ file }) => file.name === 'src/main.ts');
  return edits.length === 0 ? '' : edited(edits[0]!.file.text, edits);
}

const cache = 'cache-without-single-flight';

const guards: [string, string] = ['UseInterceptors }', 'UseGuards, UseInterceptors }'];
const request: [string, string] = ['NestFactory }', 'NestFactory, REQUEST, APP_GUARD }'];

/** What is replaced in the app. */
const ofOneCaller: Record<string, [from: string, to: string][]> = {
  'a guard on the route': [guards, ['  feed()', '  @UseGuards(LoggedIn)\n  feed()']],
  'a guard above the interceptor': [guards, ["  @Get('feed')", "  @UseGuards(A)\n  @Get('feed')"]],
  'a guard on the controller': [guards, ['@Controller()', '@UseGuards(LoggedIn)\n@Controller()']],
  'a guard on what the controller extends': [
    guards,
    [
      '@Controller()\nclass Feed',
      '@UseGuards(LoggedIn)\nclass Base {}\n@Controller()\nclass Feed extends Base',
    ],
  ],
  'a controller that extends what is not seen': [['class Feed', 'class Feed extends Elsewhere']],
  'a guard beside the one that counts': [
    guards,
    ['  feed()', '  @UseGuards(ThrottlerGuard, LoggedIn)\n  feed()'],
    [
      'import { NestFactory }',
      "import { ThrottlerGuard } from '@nestjs/throttler';\nimport { NestFactory }",
    ],
  ],
  'a guard within a decorator of the app': [
    guards,
    ['@Controller()', 'const Auth = () => applyDecorators(UseGuards(LoggedIn));\n@Controller()'],
    ['  feed()', '  @Auth()\n  feed()'],
  ],
  'a guard within a decorator of a package': [['  feed()', '  @Auth()\n  feed()']],
  'a guard for all, in the module': [
    request,
    [
      'controllers: [Feed]',
      'controllers: [Feed], providers: [{ provide: APP_GUARD, useClass: LoggedIn }]',
    ],
  ],
  'a guard for all, in the main file': [
    ['await app.listen', 'app.useGlobalGuards(new LoggedIn());\nawait app.listen'],
  ],
  'a handler that takes the request': [['feed()', 'feed(@Req() request: Request)']],
  'a handler that takes a header': [['feed()', "feed(@Headers('x-user') user: string)"]],
  'a handler that takes the session': [['feed()', 'feed(@Session() session: object)']],
  'a handler that takes the user by a decorator of its own': [
    ['feed()', 'feed(@User() user: User)'],
  ],
  'a controller that is given the request': [
    request,
    [
      'class Feed {',
      'class Feed {\n  constructor(@Inject(REQUEST) private readonly request: Request) {}',
    ],
  ],
  'a service that is given the request': [
    request,
    ['return []', 'return this.items.all()'],
    [
      '@Controller()',
      'class Items {\n  @Inject(REQUEST) private readonly request: Request;\n  all() {\n    return [];\n  }\n}\n\n@Controller()',
    ],
    ['class Feed {', 'class Feed {\n  constructor(private readonly items: Items) {}'],
  ],
  'a handler that asks an AsyncLocalStorage': [
    ['@Controller()', 'const callers = new AsyncLocalStorage();\n\n@Controller()'],
    ['return [];', 'return [callers.getStore()];'],
    [
      'import { NestFactory }',
      "import { AsyncLocalStorage } from 'node:async_hooks';\nimport { NestFactory }",
    ],
  ],
  'another route of the app with the interceptor, behind a guard': [
    guards,
    [
      '@Module({',
      '@Controller()\nclass Mine {\n  @Get("mine")\n  @UseInterceptors(CacheInterceptor)\n  @CacheTTL(5)\n  @UseGuards(LoggedIn)\n  mine() {}\n}\n\n@Module({',
    ],
  ],
};

describe('the change of redline doctor in an app of Nest', () => {
  test('puts JsonCache over the client of the app in place of CacheInterceptor', (t) => {
    const text = changed(found(t, app), cache);
    assert.match(
      text,
      /^import \{ JsonCache, JsonCacheModule, redisStore \} from '@redline\/nest';\n/,
    );
    assert.match(text, /^import \{ Controller, Get, Module \} from '@nestjs\/common';$/m);
    assert.match(text, /^import \{ connect \} from '\.\/redis\.js';$/m);
    assert.match(text, /^ {2}@JsonCache\(\{ ttl: 60_000 \}\)\n {2}feed\(\) \{$/m);
    assert.match(text, /^const cacheClient = connect\(\);\n\n@Module/m);
    assert.match(
      text,
      /JsonCacheModule\.forRoot\(cacheClient === undefined \? \{\} : \{ store: redisStore\(cacheClient\) \}\),/,
    );
    assert.doesNotMatch(text, /cache-manager|CacheTTL|keyvOver/);
  });

  test('is left to people where more of cache-manager is used, or its store or ttl cannot be seen', (t) => {
    const cases = [
      app.replace('CacheTTL }', 'CacheTTL, CACHE_MANAGER }'),
      app.replace('  @CacheTTL(60_000)\n', ''),
      app.replace('keyvOver(connect())', '[new (await import("x")).Store()]'),
      app.replace('{ stores:', '{ max: 5, stores:'),
      app.replace('register({', 'registerAsync({'),
      app.replace('(CacheInterceptor)', '(CacheInterceptor, Other)'),
    ];
    for (const each of cases) {
      assert.notEqual(each, app);
      assert.equal(changed(found(t, each), cache), '', each);
    }
  });

  describe('offers no JsonCache for a response that may be of one caller', () => {
    for (const [name, changes] of Object.entries(ofOneCaller)) {
      test(name, (t) => {
        const text = changes.reduce((before, [from, to]) => {
          assert.ok(before.includes(from), from);
          return before.replace(from, to);
        }, app);
        const all = found(t, text).filter(({ finding }) => finding.rule === cache);
        assert.equal(all.map(({ finding: { diff } }) => diff).join(''), '');
        assert.equal(all.flatMap(({ edits }) => edits).length, 0);
        assert.match(all.map(({ finding: { how } }) => how).join('\n'), /identify/);
      });
    }
  });

  test('offers it behind a guard that only counts, and for what is in the URL', (t) => {
    const counted = app
      .replace('  feed()', '  @UseGuards(ThrottlerGuard)\n  feed(@Query("page") page: string)')
      .replace('UseInterceptors }', 'Query, UseGuards, UseInterceptors }')
      .concat("import { ThrottlerGuard } from '@nestjs/throttler';\n");
    assert.match(changed(found(t, counted), cache), /@JsonCache\(\{ ttl: 60_000 \}\)/);
  });

  test('keeps the request logs of nestjs-pino as it moves to Fastify', (t) => {
    const text = changed(found(t, app), 'nest-on-express');
    assert.match(text, /NestFactory\.create\(AppModule, new FastifyAdapter\(\)\)/);
    assert.match(
      text,
      /LoggerModule\.forRoot\(\{ forRoutes: \['\{\*path\}'\], pinoHttp: \{\} \}\)/,
    );
    // Where nobody can write its routes down, its logs would be lost.
    const hidden = app.replace('forRoot({ pinoHttp: {} })', 'forRootAsync({ useFactory })');
    assert.equal(changed(found(t, hidden), 'nest-on-express'), '');
  });

  test('can be made together with all others', (t) => {
    const all = found(t, app);
    const text = changed(all, cache, 'nest-on-express', 'logger-as-middleware');
    for (const part of [
      /^import \{ FastifyAdapter \} from '@nestjs\/platform-fastify';\nimport \{ JsonCache,/,
      /from '@redline\/nest\/nestjs-pino'/,
      /new FastifyAdapter\(\)/,
      /@JsonCache/,
    ]) {
      assert.match(text, part);
    }
    assert.ok(all.some(({ finding, preload }) => finding.rule === 'node-http' && preload));
  });
});
