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
  'a handler that is inherited with its guard, under a controller with the interceptor': [
    guards,
    ['  @UseInterceptors(CacheInterceptor)\n  @CacheTTL(60_000)\n', ''],
    [
      '@Controller()\nclass Feed {',
      "class Base {\n  @Get('mine')\n  @UseGuards(LoggedIn)\n  mine() {}\n}\n\n@UseInterceptors(CacheInterceptor)\n@CacheTTL(5)\n@Controller()\nclass Feed extends Base {",
    ],
  ],
  'a cached handler that guarded controllers inherit': [
    guards,
    ['@Controller()\nclass Feed {', 'abstract class Base {'],
    ['@Module({', '@UseGuards(LoggedIn)\n@Controller()\nclass Feed extends Base {}\n\n@Module({'],
  ],
  'a base class with the interceptor, whose guarded controller has the handler': [
    guards,
    ['  @UseInterceptors(CacheInterceptor)\n  @CacheTTL(60_000)\n', ''],
    ['  feed()', '  @UseGuards(LoggedIn)\n  feed()'],
    [
      '@Controller()\nclass Feed {',
      '@UseInterceptors(CacheInterceptor)\n@CacheTTL(5)\nabstract class Base {}\n\n@Controller()\nclass Feed extends Base {',
    ],
  ],
  'a controller by a decorator of the app that holds a guard': [
    guards,
    ['  @UseInterceptors(CacheInterceptor)\n  @CacheTTL(60_000)\n', ''],
    [
      '@Controller()\nclass Feed',
      '@UseInterceptors(CacheInterceptor)\n@CacheTTL(5)\n@Area()\nclass Feed',
    ],
    [
      '@Module({',
      'const Area = () => applyDecorators(Controller(), UseGuards(LoggedIn));\n@Module({',
    ],
  ],
  'a mixin that brings a guard': [
    guards,
    [
      '@Controller()\nclass Feed {',
      'function Guarded() {\n  @UseGuards(LoggedIn)\n  class Base {}\n  return Base;\n}\n@Controller()\nclass Feed extends Guarded() {',
    ],
  ],
  'a list of decorators that holds a guard': [
    guards,
    [
      '@Controller()',
      'const parts = [UseGuards(LoggedIn)];\nconst Own = () => applyDecorators(...parts);\n@Controller()',
    ],
    ['  feed()', '  @Own()\n  feed()'],
  ],
  'a decorator of a package that says nothing of itself': [
    ['  feed()', '  @Sealed()\n  feed()'],
    ['import { NestFactory }', "import { Sealed } from '@acme/nest';\nimport { NestFactory }"],
  ],
  'a module of a package that is there to authenticate': [
    ['imports: [', 'imports: [\n    AuthModule.forRoot(),'],
    [
      'import { NestFactory }',
      "import { AuthModule } from '@acme/nest-auth';\nimport { NestFactory }",
    ],
  ],
  'a middleware of the module that reads the token': [
    [
      'class AppModule {}',
      "class Caller {\n  use(request, response, next) {\n    request.who = lookUp(request.headers.authorization);\n    next();\n  }\n}\nclass AppModule {\n  configure(consumer) {\n    consumer.apply(Caller).forRoutes('*');\n  }\n}",
    ],
  ],
  'a middleware of a package, in the module': [
    [
      'class AppModule {}',
      "class AppModule {\n  configure(consumer) {\n    consumer.apply(Tenancy).forRoutes('*');\n  }\n}",
    ],
    ['import { NestFactory }', "import { Tenancy } from '@acme/tenancy';\nimport { NestFactory }"],
  ],
  'a middleware in the main file that rejects strangers': [
    [
      'await app.listen',
      'app.use((req, res, next) => (known(req) ? next() : res.status(401).end()));\nawait app.listen',
    ],
  ],
  'sessions in the main file': [
    ['await app.listen', 'app.use(session({ secret }));\nawait app.listen'],
    ['import { NestFactory }', "import session from 'express-session';\nimport { NestFactory }"],
  ],
  'a hook of Fastify that looks the caller up': [
    [
      'await app.listen',
      "app.getHttpAdapter().getInstance().addHook('preHandler', async (request) => {\n  request.member = await find(request.cookies.member);\n});\nawait app.listen",
    ],
  ],
  'a plugin of Fastify that authenticates': [
    ['await app.listen', 'await app.register(jwt, { secret });\nawait app.listen'],
    ['import { NestFactory }', "import jwt from '@fastify/jwt';\nimport { NestFactory }"],
  ],
  'an interceptor around it that asks who calls': [
    [
      '@Controller()',
      'class Own {\n  intercept(context, next) {\n    const { member } = context.switchToHttp().getRequest();\n    return next.handle().pipe(map((all) => all.filter(({ of }) => of === member)));\n  }\n}\n\n@UseInterceptors(Own)\n@Controller()',
    ],
  ],
  'an interceptor for all that asks who calls': [
    [
      'controllers: [Feed]',
      'controllers: [Feed], providers: [{ provide: APP_INTERCEPTOR, useClass: Own }]',
    ],
    [
      '@Module({',
      'class Own {\n  intercept(context, next) {\n    return this.allows(context.getArgByIndex(0)) ? next.handle() : EMPTY;\n  }\n}\n\n@Module({',
    ],
  ],
  'a controller whose base is given the request': [
    request,
    ['return []', 'return this.request.ip'],
    [
      '@Controller()\nclass Feed {',
      'class Base {\n  @Inject(REQUEST) protected readonly request: Request;\n}\n\n@Controller()\nclass Feed extends Base {',
    ],
  ],
  'a service behind a token, where a class of the app is given the request': [
    request,
    ['return []', 'return this.items.all()'],
    [
      'class Feed {',
      "class Feed {\n  constructor(@Inject('ITEMS') private readonly items: Items) {}",
    ],
    [
      '@Controller()',
      'interface Items {\n  all(): object[];\n}\nclass OwnItems implements Items {\n  @Inject(REQUEST) private readonly request: Request;\n  all() {\n    return [this.request.ip];\n  }\n}\n\n@Controller()',
    ],
  ],
  'a service behind an abstract class, which is given the request': [
    request,
    ['return []', 'return this.items.all()'],
    ['class Feed {', 'class Feed {\n  constructor(private readonly items: Items) {}'],
    [
      '@Controller()',
      'abstract class Items {\n  abstract all(): object[];\n}\nclass OwnItems extends Items {\n  @Inject(REQUEST) private readonly request: Request;\n  all() {\n    return [this.request.ip];\n  }\n}\n\n@Controller()',
    ],
  ],
  'a store of the request that a package keeps': [
    ['return []', "return [requestContext.get('member')]"],
    [
      'import { NestFactory }',
      "import { requestContext } from '@fastify/request-context';\nimport { NestFactory }",
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

  for (const name of ['connect$', '$connect', 'öffne', '接続']) {
    test(`keeps the import of ${name}, which its client is made with`, (t) => {
      const named = (text: string): string => text.replaceAll('connect', () => name);
      const text = changed(found(t, named(app), named(redis)), cache);
      assert.ok(text.includes(`const cacheClient = ${name}();`), text);
      assert.ok(text.includes(`import { ${name} } from './redis.js';`), text);
    });
  }

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

  test('offers none where a base class in another file brings the guard', (t) => {
    const main = app
      .replace('class Feed {', 'class Feed extends Members {')
      .replace('{ connect, keyvOver }', '{ connect, keyvOver, Members }');
    const base = `${redis}
import { UseGuards } from '@nestjs/common';
@UseGuards(LoggedIn)
export abstract class Members {}
`;
    const finding = found(t, main, base).find((each) => each.finding.rule === cache);
    assert.equal(finding!.finding.diff, '');
    assert.match(finding!.finding.how, /@UseGuards\(LoggedIn\) at src\/redis\.ts:9/);
  });

  test('offers it behind a guard that only counts, and for what is in the URL', (t) => {
    const counted = app
      .replace('  feed()', '  @UseGuards(ThrottlerGuard)\n  feed(@Query("page") page: string)')
      .replace('UseInterceptors }', 'Query, UseGuards, UseInterceptors }')
      .concat("import { ThrottlerGuard } from '@nestjs/throttler';\n");
    assert.match(changed(found(t, counted), cache), /@JsonCache\(\{ ttl: 60_000 \}\)/);
  });

  test('offers it beside middleware and interceptors that know no caller', (t) => {
    const plain = app
      .replace(
        'class AppModule {}',
        "class Timer {\n  use(request, response, next) {\n    request.startedAt = Date.now();\n    next();\n  }\n}\nclass AppModule {\n  configure(consumer) {\n    consumer.apply(Timer, helmet()).forRoutes('*');\n  }\n}",
      )
      .replace(
        '@Controller()',
        'class Wrapped {\n  intercept(context, next) {\n    return next.handle().pipe(map((data) => ({ data })));\n  }\n}\n\n@UseInterceptors(Wrapped)\n@Controller()',
      )
      .replace('await app.listen', 'app.use(compression());\nawait app.listen')
      .concat("import compression from 'compression';\nimport helmet from 'helmet';\n");
    assert.match(changed(found(t, plain), cache), /@JsonCache\(\{ ttl: 60_000 \}\)/);
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
