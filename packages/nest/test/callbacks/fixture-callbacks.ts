// Runs an app for each faulty callback, in a process of its own: a fault may be the end of it.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  Controller,
  Get,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { JsonStore } from '@redline/response-cache';
import {
  AfterResponse,
  DeferModule,
  JsonCache,
  JsonCacheModule,
  LoggerModule,
  PinoLogger,
  type AfterResponseOptions,
  type LoggerModuleOptions,
  type RouteCachePolicy,
} from '@redline/nest';
import { LoggerModule as CompatibleModule } from '@redline/nest/nestjs-pino';

const [framework, fault] = process.argv.slice(2) as ['fastify' | 'express', Fault];

type Fault = 'throws' | 'rejects' | 'returns a getter that throws';

export interface Report {
  readonly callback: string;
  readonly calls: number;
  readonly statuses: number[];
  /** Errors that would have ended the process. */
  readonly fatal: string[];
  /** Whether a response, a line or a warning names the fault. */
  readonly isReported: boolean;
}

let running = '';
let calls = 0;
let isThrown = false;
let fatal: string[] = [];
let reported: string[] = [];

process.on('uncaughtException', (error) => void fatal.push(String(error?.stack ?? error)));
process.on('unhandledRejection', (error) =>
  fatal.push(`rejection: ${String((error as Error)?.stack ?? error)}`),
);
process.on('warning', ({ message }) => void reported.push(message));

function boom(): never {
  isThrown = true;
  throw new Error(`boom of ${running}`);
}

function faulty(): any {
  calls += 1;
  if (fault === 'throws') boom();
  if (fault === 'rejects') return Promise.reject(new Error(`boom of ${running}`));
  return {
    get field(): string {
      return boom();
    },
    toString: boom,
    toJSON: boom,
  };
}

const stream = { write: (line: string): void => void reported.push(line) };

interface App {
  readonly imports: DynamicModule[];
  readonly controllers: Array<Type<unknown>>;
  readonly providers?: Provider[];
}

const logged = (options: object): App => ({
  imports: [LoggerModule.forRoot({ destination: stream, ...options } as LoggerModuleOptions)],
  controllers: [Logging],
});

const compatible = (pinoHttp: object): App => ({
  imports: [CompatibleModule.forRoot({ pinoHttp: { stream, ...pinoHttp } as never })],
  controllers: [Logging],
});

const loggerOfTest = {
  warn: (line: string, error?: unknown): void => void reported.push(`${line} ${String(error)}`),
  log: (line: string): void => void reported.push(line),
};

function cached(policy: RouteCachePolicy<any>, options: object = {}): App {
  @Controller()
  class Cached {
    @Get('ok')
    @JsonCache({ ttl: 60_000, ...policy })
    ok(): object {
      return { isServed: true };
    }

    @Get('fail')
    @JsonCache({ ttl: 60_000, ...policy })
    fail(): object {
      throw new Error('as it should');
    }

    @Get('hang')
    @JsonCache({ ttl: 60_000, ...policy })
    async hang(): Promise<object> {
      await sleep(20);
      return {};
    }
  }
  return {
    imports: [JsonCacheModule.forRoot({ hosts: 'any', logger: loggerOfTest, ...options })],
    controllers: [Cached],
  };
}

function deferred(method: AfterResponseOptions<[]>, options: object = {}): App {
  @Injectable()
  class Work {
    @AfterResponse(method)
    async run(): Promise<void> {}
  }
  return deferring(Work, options);
}

function deferring(Work: Type<{ run(): unknown }>, options: object = {}): App {
  @Controller()
  class Deferring {
    constructor(readonly work: PinoLogger) {}
  }
  Reflect.defineMetadata('design:paramtypes', [Work], Deferring);
  const add = (path: string, handler: (this: { work: { run(): unknown } }) => unknown): void => {
    Object.defineProperty(Deferring.prototype, path, { value: handler, writable: true });
    const descriptor = Object.getOwnPropertyDescriptor(Deferring.prototype, path)!;
    Get(path)(Deferring.prototype, path, descriptor);
  };
  add('ok', function () {
    this.work.run();
    return { isServed: true };
  });
  add('fail', function () {
    this.work.run();
    throw new Error('as it should');
  });
  add('hang', function () {
    this.work.run();
    return sleep(20);
  });
  return {
    imports: [
      DeferModule.forRoot({
        logger: loggerOfTest,
        handleSignals: false,
        methods: { retry: { attempts: 1 } },
        ...options,
      } as never),
    ],
    controllers: [Deferring],
    providers: [Work],
  };
}

@Controller()
class Logging {
  constructor(readonly logger: PinoLogger) {}

  @Get('ok')
  ok(): object {
    this.logger.info({ own: 1 }, 'by the handler');
    return { isServed: true };
  }

  @Get('fail')
  fail(): object {
    throw new Error('as it should');
  }

  @Get('hang')
  async hang(): Promise<void> {
    await sleep(20);
  }
}

@Injectable()
class FaultyWork {
  @AfterResponse()
  run(): void {
    return faulty();
  }
}

@Injectable()
class FaultyAsyncWork {
  @AfterResponse()
  async run(): Promise<void> {
    await faulty();
    throw new Error(`boom of ${running}`);
  }
}

const brokenStore = (name: keyof JsonStore): JsonStore => ({
  get: () => undefined,
  set() {},
  delete() {},
  [name]: faulty,
});

/* A store that fails says so to the logger. */
const deaf = { store: { ...brokenStore('get'), get: boom }, logger: { warn: faulty, log: faulty } };

const callbacks: Readonly<Record<string, () => App>> = {
  'LoggerModule fields': () => logged({ fields: faulty }),
  'LoggerModule customProps': () => logged({ customProps: faulty }),
  'LoggerModule customLogLevel': () => logged({ customLogLevel: faulty }),
  'LoggerModule customSuccessMessage': () => logged({ customSuccessMessage: faulty }),
  'LoggerModule customErrorMessage': () => logged({ customErrorMessage: faulty }),
  'LoggerModule customReceivedMessage': () => logged({ customReceivedMessage: faulty }),
  'LoggerModule customReceivedObject': () => logged({ customReceivedObject: faulty }),
  'LoggerModule customSuccessObject': () => logged({ customSuccessObject: faulty }),
  'LoggerModule customErrorObject': () => logged({ customErrorObject: faulty }),
  'LoggerModule ignore': () => logged({ ignore: faulty }),
  'LoggerModule requestId.generate': () => logged({ requestId: { generate: faulty } }),
  'LoggerModule pino.serializers.reqId': () => logged({ pino: { serializers: { reqId: faulty } } }),
  'LoggerModule pino.serializers.err': () => logged({ pino: { serializers: { err: faulty } } }),
  'LoggerModule pino.serializers.own': () => logged({ pino: { serializers: { own: faulty } } }),
  'LoggerModule pino.mixin': () => logged({ pino: { mixin: faulty } }),
  'LoggerModule pino.formatters.log': () => logged({ pino: { formatters: { log: faulty } } }),
  'LoggerModule pino.hooks.logMethod': () => logged({ pino: { hooks: { logMethod: faulty } } }),
  'LoggerModule pino.hooks.streamWrite': () => logged({ pino: { hooks: { streamWrite: faulty } } }),
  'LoggerModule pino.timestamp': () => logged({ pino: { timestamp: faulty } }),
  'LoggerModule redact.censor': () => logged({ redact: { paths: ['url'], censor: faulty } }),
  'LoggerModule destination.write': () => logged({ destination: { write: faulty } }),
  'compatible genReqId': () => compatible({ genReqId: faulty }),
  'compatible customProps': () => compatible({ customProps: faulty }),
  'compatible customLogLevel': () => compatible({ customLogLevel: faulty }),
  'compatible customSuccessMessage': () => compatible({ customSuccessMessage: faulty }),
  'compatible customErrorMessage': () => compatible({ customErrorMessage: faulty }),
  'compatible customReceivedMessage': () => compatible({ customReceivedMessage: faulty }),
  'compatible customReceivedObject': () => compatible({ customReceivedObject: faulty }),
  'compatible customSuccessObject': () => compatible({ customSuccessObject: faulty }),
  'compatible customErrorObject': () => compatible({ customErrorObject: faulty }),
  'compatible autoLogging.ignore': () => compatible({ autoLogging: { ignore: faulty } }),
  'compatible serializers.req': () => compatible({ serializers: { req: faulty } }),
  'compatible serializers.res': () => compatible({ serializers: { res: faulty } }),
  'compatible serializers.err': () => compatible({ serializers: { err: faulty } }),
  'compatible mixin': () => compatible({ mixin: faulty }),
  'compatible formatters.log': () => compatible({ formatters: { log: faulty } }),
  'compatible hooks.logMethod': () => compatible({ hooks: { logMethod: faulty } }),
  'compatible stream.write': () => compatible({ stream: { write: faulty } }),
  '@JsonCache identify': () => cached({ identify: faulty }),
  '@JsonCache identify at the hook': () => cached({ identify: faulty, at: 'hook' }),
  '@JsonCache key': () => cached({ key: faulty }),
  '@JsonCache key at the hook': () => cached({ key: faulty, at: 'hook' }),
  '@JsonCache ttl': () => cached({ ttl: faulty }),
  '@JsonCache tags': () => cached({ tags: faulty }),
  'JsonCacheModule trackBy': () => cached({}, { trackBy: faulty }),
  'JsonCacheModule store.get': () => cached({}, { store: brokenStore('get') }),
  'JsonCacheModule store.get at the hook': () =>
    cached({ at: 'hook' }, { store: brokenStore('get') }),
  'JsonCacheModule store.set': () => cached({}, { store: brokenStore('set') }),
  'JsonCacheModule store.lease': () => cached({}, { store: brokenStore('lease') }),
  'JsonCacheModule logger': () => cached({}, deaf),
  'JsonCacheModule logger at the hook': () => cached({ at: 'hook' }, deaf),
  '@AfterResponse method': () => deferring(FaultyWork),
  '@AfterResponse asynchronous method': () => deferring(FaultyAsyncWork),
  '@AfterResponse key': () => deferred({ key: faulty }),
  '@AfterResponse runAt': () => deferred({ runAt: faulty }),
  'DeferModule context.capture': () => deferred({ delayMs: 5 }, { context: { capture: faulty } }),
  'DeferModule context.spans': () =>
    deferred({ delayMs: 5 }, { context: { spans: { process: faulty, send: faulty } } }),
  'DeferModule logger': () => deferring(FaultyWork, { logger: { warn: faulty, log: faulty } }),
  'DeferModule logger of an asynchronous method': () =>
    deferring(FaultyAsyncWork, { logger: { warn: faulty, log: faulty } }),
};

async function tryOut(callback: string, make: () => App): Promise<Report> {
  running = callback;
  calls = 0;
  isThrown = fault === 'rejects';
  fatal = [];
  reported = [];
  const statuses: number[] = [];
  const parts = make();
  @Module(parts)
  class AppModule {}
  const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  let app: INestApplication;
  try {
    app = await NestFactory.create(AppModule, adapter, { logger: false, abortOnError: false });
    await app.listen(0, '127.0.0.1');
  } catch (error) {
    return { callback, calls, statuses, fatal, isReported: error instanceof Error };
  }
  const server = app.getHttpServer();
  const { port } = server.address() as AddressInfo;
  for (const path of ['/ok', '/ok', '/fail', '/missing']) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    statuses.push(response.status);
    await response.text();
  }
  await leave(port);
  const closed = once(server, 'close');
  server.closeAllConnections();
  await app.close();
  await closed;
  for (let turn = 0; turn < 3; turn += 1) await sleep(5);
  const isReported =
    fault === 'returns a getter that throws' ||
    !isThrown ||
    statuses.slice(0, 2).some((status) => status >= 500) ||
    reported.join().includes('boom');
  return { callback, calls, statuses, fatal, isReported };
}

/** A client that is gone before its response. */
async function leave(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /hang HTTP/1.1\r\nHost: a\r\n\r\n');
  await sleep(10);
  socket.destroy();
  await sleep(30);
}

const only = process.argv[4];
for (const [callback, make] of Object.entries(callbacks)) {
  if (only !== undefined && !callback.includes(only)) continue;
  process.stdout.write(`${JSON.stringify(await tryOut(callback, make))}\n`);
}
process.exit(0);
