// The article's solution: an interceptor adds the job without waiting for it. RxJS runs it before the response is sent, and
// jobs that the queue has not taken yet die with the process.
import {
  Controller,
  Get,
  Inject,
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { tap, type Observable } from 'rxjs';
import { accessRecord, orders } from './access-record.ts';
import type { Variant } from './variant.ts';
import { WatchedQueue } from './watched-queue.ts';

@Injectable()
class AccessInterceptor implements NestInterceptor {
  constructor(@Inject(WatchedQueue) private readonly queue: WatchedQueue) {}

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      tap(() => {
        this.queue.add(accessRecord()).catch(() => {});
      }),
    );
  }
}

@Controller()
class OrdersController {
  @Get('orders')
  @UseInterceptors(AccessInterceptor)
  list(): typeof orders {
    return orders;
  }
}

export const interceptor: Variant = {
  controllers: [OrdersController],
  providers: [AccessInterceptor],
};
