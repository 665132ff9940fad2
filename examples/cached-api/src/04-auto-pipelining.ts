// One idea: all commands of one turn of the event loop travel to Redis together.
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JsonCache, JsonCacheModule, LoggerModule, NestLogger } from '@redline/nest';
import { Catalog, type Product } from './catalog.ts';
import { jsonStore } from './json-store.ts';
import { connectRedis } from './redis.ts';

@Controller()
class ProductController {
  constructor(private readonly catalog: Catalog) {}

  @Get('cached')
  @JsonCache({ ttl: 600_000 })
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
    LoggerModule.forRoot(),
    JsonCacheModule.forRoot({ store: jsonStore(connectRedis({ enableAutoPipelining: true })) }),
  ],
  controllers: [ProductController],
  providers: [Catalog],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { bufferLogs: true });
app.useLogger(app.get(NestLogger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
