// The server of the demonstration: it takes an order, says 202 once the order's job is on disk, and knows no other way.
import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { defer, defineJob } from '@redline/defer';
import { bullmq } from '@redline/defer/sinks/bullmq';
import { DeferModule } from '@redline/nest';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';

const { REDIS_URL, JOURNAL, PORT } = process.env;
const shipOrder = defineJob<{ id: string }>('ship-order', { level: 'disk' });

const client = new Redis(REDIS_URL!, { maxRetriesPerRequest: null });
const queue = new Queue('orders', { connection: client });
// Both try again by themselves, and would print each try.
for (const each of [client, queue]) each.on('error', () => {});

@Controller('orders')
class OrdersController {
  @Post()
  @HttpCode(202)
  take(@Body() { id }: { id: string }): { id: string } {
    defer(shipOrder, { id }, { key: id });
    return { id };
  }
}

@Module({
  imports: [
    DeferModule.forRoot({
      sinks: { orders: bullmq(queue) },
      journal: { directory: JOURNAL! },
      logger: false,
    }),
  ],
  controllers: [OrdersController],
})
class AppModule {}

const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false });
await app.listen(Number(PORT), '127.0.0.1');
