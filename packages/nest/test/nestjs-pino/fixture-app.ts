// An app written for nestjs-pino. Its first argument is what the names are imported from: nestjs-pino, or this package.
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  Body,
  Controller,
  Get,
  type INestApplication,
  Injectable,
  Logger as NestLog,
  Module,
  NotFoundException,
  Param,
  Post,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type * as NestjsPino from 'nestjs-pino';

const [, , source = '', framework, variant = 'plain'] = process.argv;
const { InjectPinoLogger, Logger, LoggerErrorInterceptor, LoggerModule, NativeLogger, PinoLogger } =
  (await import(source)) as typeof NestjsPino;
const { nativeLoggerOptions } = (await import(source)) as typeof NestjsPino;

const variants: Record<string, NestjsPino.Params> = {
  plain: {},
  quiet: {
    pinoHttp: {
      quietReqLogger: true,
      customProps: (request) => ({ tenant: request.headers['x-tenant'] }),
      ...(framework === 'express' && {
        genReqId: (request: IncomingMessage) => request.headers['x-request-id'] as string,
      }),
    },
    renameContext: 'origin',
    assignResponse: true,
  },
  quietest: { pinoHttp: { quietReqLogger: true, quietResLogger: true, useLevel: 'warn' } },
  custom: {
    pinoHttp: {
      customLogLevel: (_request, response) => (response.statusCode < 400 ? 'info' : 'warn'),
      customSuccessMessage: (request, response, ms) =>
        `${request.method} ${response.statusCode} ${typeof ms}`,
      customErrorMessage: (request, response, error) =>
        `${request.method} ${response.statusCode} ${error.message}`,
      customReceivedMessage: (request) => `got ${request.method}`,
      customAttributeKeys: { req: 'request', res: 'response', responseTime: 'ms' },
      redact: ['request.headers.authorization'],
      autoLogging: { ignore: (request) => request.headers['x-tenant'] === 'quiet' },
    },
  },
  native: { pinoHttp: nativeLoggerOptions },
  excluded: {
    exclude: ['health'],
    pinoHttp: { serializers: { req: ({ id, method }) => ({ id, verb: method }) } },
  },
};

@Injectable()
class Orders {
  readonly #nest = new NestLog('Native');

  constructor(@InjectPinoLogger('Orders') readonly logger: NestjsPino.PinoLogger) {}

  async place(id: string): Promise<object> {
    this.logger.assign({ orderId: id });
    this.logger.info({ total: 7 }, 'placed by %s', 'ann');
    await sleep(3);
    this.#nest.log('native words');
    this.#nest.log('interpolated %s', 'value');
    this.#nest.warn({ a: 1, msg: 'an object' });
    this.#nest.error('boom', 'Error: boom\n    at somewhere (/app/file.js:1:2)');
    this.#nest.debug('below the level');
    this.logger.error(new Error('an error'), 'with words');
    PinoLogger.root.level = 'debug';
    this.#nest.debug('above the level');
    PinoLogger.root.level = 'info';
    return { id };
  }
}

@Controller('orders')
class OrdersController {
  readonly #orders: Orders;

  constructor(orders: Orders) {
    this.#orders = orders;
  }

  @Get(':id')
  find(@Param('id') id: string): Promise<object> {
    return this.#orders.place(id);
  }

  @Post()
  add(@Body() body: object): object {
    return body;
  }

  @Get('fails/now')
  fails(): never {
    throw new TypeError('handler broke');
  }

  @Get('missing/now')
  missing(): never {
    throw new NotFoundException('no such order');
  }
}

@Controller('health')
class HealthController {
  @Get()
  find(): string {
    return 'ok';
  }
}

@Module({
  imports: [
    LoggerModule.forRoot({
      // What nestjs-pino takes without it matches nothing on Fastify under Nest 12.
      ...(framework === 'fastify' && { forRoutes: ['{*path}'] }),
      ...variants[variant],
    }),
  ],
  controllers: [OrdersController, HealthController],
  providers: [Orders],
})
class AppModule {}

const adapter = framework === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
const app: INestApplication = await NestFactory.create(AppModule, adapter, { bufferLogs: true });
app.useLogger(app.get(variant === 'native' ? NativeLogger : Logger));
if (variant === 'custom') app.useGlobalInterceptors(new LoggerErrorInterceptor());
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();
for (const [path, tenant, body] of [
  ['/orders/7', 'acme'],
  ['/orders', 'acme', '{"a":1}'],
  ['/orders/fails/now', 'acme'],
  ['/orders/missing/now', 'acme'],
  ['/nope?a=1', 'acme'],
  ['/orders/8', 'quiet'],
  ['/health', 'acme'],
] as [string, string, string?][]) {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: 'Bearer secret',
      'x-request-id': `id-${path.length}`,
      'x-tenant': tenant,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
  await response.text();
  // The line of a response may come after the response.
  await sleep(20);
}
await app.close();
