// One idea: only responses that went wrong are logged, as in rung 06.
import { Controller, Get, Module } from '@nestjs/common';
import {
  JsonCache,
  JsonCacheModule,
  LoggerModule,
  NestLogger,
  RedlineFactory,
} from '@redline/nest';
import { Catalog, type Product } from './catalog.ts';
import { memoryBeforeRedis } from './json-store.ts';
import { connectRedis } from './redis.ts';

@Controller()
class ProductController {
  constructor(private readonly catalog: Catalog) {}

  @Get('cached')
  @JsonCache({ ttl: 600_000, at: 'engine', identify: 'public' })
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
    LoggerModule.forRoot({ requests: 'errors' }),
    JsonCacheModule.forRoot({
      hosts: 'any',
      store: memoryBeforeRedis(connectRedis({ enableAutoPipelining: true })),
    }),
  ],
  controllers: [ProductController],
  providers: [Catalog],
})
class AppModule {}

const app = await RedlineFactory.create(AppModule, { bufferLogs: true });
app.useLogger(app.get(NestLogger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
