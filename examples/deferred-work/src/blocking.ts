// The article's start: the answer waits until the queue has the job.
import { Controller, Get, Inject } from '@nestjs/common';
import { accessRecord, orders } from './access-record.ts';
import type { Variant } from './variant.ts';
import { WatchedQueue } from './watched-queue.ts';

@Controller()
class OrdersController {
  constructor(@Inject(WatchedQueue) private readonly queue: WatchedQueue) {}

  @Get('orders')
  async list(): Promise<typeof orders> {
    await this.queue.add(accessRecord());
    return orders;
  }
}

export const blocking: Variant = { controllers: [OrdersController] };
