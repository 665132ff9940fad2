// One idea: Fastify in place of Express.
import { CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, RequestMethod, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Logger, LoggerModule } from 'nestjs-pino';
import { pino } from 'pino';
import { Catalog, type Product } from './catalog.ts';
import { keyvOver } from './keyv-ioredis.ts';
import { connectRedis } from './redis.ts';

@Controller()
class ProductController {
  constructor(private readonly catalog: Catalog) {}

  @Get('cached')
  @UseInterceptors(CacheInterceptor)
  @CacheTTL(600_000)
  cached(): Promise<Product> {
    return this.catalog.findProduct();
  }

  @Get('uncached')
  uncached(): Promise<Product> {
    return this.catalog.findProduct();
  }
}

@Module({
  imports: [
    LoggerModule.forRoot({
      pinoHttp: { stream: pino.destination({ sync: false }) },
      // On Fastify nestjs-pino's own default route matches nothing, and no request is logged.
      forRoutes: [{ path: '*splat', method: RequestMethod.ALL }],
    }),
    CacheModule.register({ stores: keyvOver(connectRedis()) }),
  ],
  controllers: [ProductController],
  providers: [Catalog],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { bufferLogs: true });
app.useLogger(app.get(Logger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
