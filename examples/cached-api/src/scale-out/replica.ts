// One of several replicas of an API: memory in front of a Redis Cluster, and tags that a change invalidates.
import {
  Body,
  Controller,
  Get,
  Module,
  Param,
  Put,
  ServiceUnavailableException,
} from '@nestjs/common';
import {
  CacheError,
  JsonCache,
  JsonCacheModule,
  JsonCacheService,
  LoggerModule,
  NestLogger,
  RedlineFactory,
  tieredStore,
  type CacheRequest,
} from '@redline/nest';
import { Cluster } from 'ioredis';
import { Database, type Product } from './database.ts';

const nodes = process.env.REDIS_NODES!.split(',').map((port) => ({
  host: '127.0.0.1',
  port: Number(port),
}));
const cluster = new Cluster(nodes);
cluster.on('error', () => {});
const store = tieredStore(cluster, { keyPrefix: 'shop:' });

interface ProductRequest extends CacheRequest {
  readonly params: { readonly id: string };
}

@Controller()
class ProductController {
  constructor(
    private readonly database: Database,
    private readonly cache: JsonCacheService,
  ) {}

  @Get('products/:id')
  @JsonCache({ ttl: 600_000, tags: ({ params }: ProductRequest) => [`product:${params.id}`] })
  find(@Param('id') id: string): Promise<Product> {
    return this.database.find(id);
  }

  @Put('products/:id')
  async rename(@Param('id') id: string, @Body() { name }: { name: string }): Promise<Product> {
    const product = await this.database.rename(id, name);
    try {
      await this.cache.invalidate(`product:${id}`);
    } catch (error) {
      // It is written, and some may still be given the old one: the client is not told that it is done.
      if (error instanceof CacheError) throw new ServiceUnavailableException(error.message);
      throw error;
    }
    return product;
  }

  @Get('health')
  @JsonCache(false)
  health(): string {
    return 'ok';
  }

  /** The state that the demonstration reads. */
  @Get('memory')
  memory(): { bytes: number; isCoherent: boolean; handlerRuns: number; hits: number } {
    const { hits } = this.cache.stats;
    const { handlerRuns } = this.database;
    return { bytes: store.bytes, isCoherent: store.isCoherent, handlerRuns, hits };
  }
}

@Module({
  imports: [
    LoggerModule.forRoot({ requests: 'errors' }),
    JsonCacheModule.forRoot({ store, hosts: 'any', headers: ['x-cache'] }),
  ],
  controllers: [ProductController],
  providers: [Database],
})
class AppModule {}

const app = await RedlineFactory.create(AppModule, { bufferLogs: true });
app.useLogger(app.get(NestLogger));
await app.listen(process.env.PORT ?? 3000, process.env.HOST ?? '127.0.0.1');
