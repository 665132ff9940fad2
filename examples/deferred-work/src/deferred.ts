// Ours: the job is deferred from the handler, and leaves after the response, in batches. What it survives is its level.
import { Controller, Get } from '@nestjs/common';
import { defer, type Level, type Overflow, type SealOptions } from '@redline/defer';
import { DeferModule } from '@redline/nest';
import { accessRecord, orders, writeAccess } from './access-record.ts';
import type { Variant } from './variant.ts';
import { WatchedQueue } from './watched-queue.ts';

@Controller()
class OrdersController {
  @Get('orders')
  list(): typeof orders {
    defer(writeAccess, accessRecord());
    return orders;
  }
}

export function deferred(level: Level, directory: string | undefined, seal?: SealOptions): Variant {
  // Without a disk to spill to, a response waits for room: no job is lost and no request is refused.
  const overflow = (process.env.OVERFLOW ??
    (directory === undefined ? 'block' : 'spill')) as Overflow;
  return {
    controllers: [OrdersController],
    imports: [
      DeferModule.forRootAsync({
        inject: [WatchedQueue],
        useFactory: (queue: WatchedQueue) => ({
          level,
          sinks: { access: { ...queue.sink(), overflow } },
          sink: 'access',
          ...(directory === undefined ? {} : { journal: { directory, ...(seal && { seal }) } }),
        }),
      }),
    ],
  };
}
