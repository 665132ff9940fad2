// The base: Nest on Express, a log line for every request through nestjs-pino, answers cached in Redis by Nest's own
// CacheInterceptor. This is what most tutorials end with.
import { CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
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
    LoggerModule.forRoot({ pinoHttp: { stream: pino.destination({ sync: false }) } }),
    CacheModule.register({ stores: keyvOver(connectRedis()) }),
  ],
  controllers: [ProductController],
  providers: [Catalog],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { bufferLogs: true });
app.useLogger(app.get(Logger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
