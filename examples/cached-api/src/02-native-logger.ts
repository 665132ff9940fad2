// One idea: pino attached to Fastify itself, one slim line per response, in place of nestjs-pino's middleware.
import { CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { LoggerModule, NestLogger } from '@redline/nest';
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
  imports: [LoggerModule.forRoot(), CacheModule.register({ stores: keyvOver(connectRedis()) })],
  controllers: [ProductController],
  providers: [Catalog],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { bufferLogs: true });
app.useLogger(app.get(NestLogger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
