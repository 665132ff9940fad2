import { Inject, Injectable } from '@nestjs/common';
import {
  prometheusMetrics,
  type AfterOptions,
  type DeadLetters,
  type DeferCallOptions,
  type Deferred,
  type Deferrer,
  type JobDefinition,
  type RunDelivery,
} from '@redline/defer';

export const deferrerToken: unique symbol = Symbol('Deferrer');

/**
 * The deferrer of the module. `defer()` and `defer.after()` of `@redline/defer` use it too, anywhere in the code of a
 * request.
 *
 * @example
 * ```ts
 * constructor(private readonly defer: DeferService) {}
 *
 * async place(order: Order) {
 *   await this.orders.insert(order);
 *   this.defer.defer(sendConfirmation, { orderId: order.id }, { key: order.id, when: 'success' });
 * }
 * ```
 */
@Injectable()
export class DeferService {
  readonly deferrer: Deferrer;

  constructor(@Inject(deferrerToken) deferrer: Deferrer) {
    this.deferrer = deferrer;
  }

  /** @throws {DeferError} see `defer` of `@redline/defer` */
  defer<Data>(job: JobDefinition<Data>, data: Data, options?: DeferCallOptions): Deferred {
    return this.deferrer.defer(job, data, options);
  }

  /** @throws {DeferError} ERR_REDLINE_DEFER_FULL, _CLOSED, _LEVEL */
  after(work: (delivery: RunDelivery) => unknown, options?: AfterOptions): void {
    this.deferrer.after(work, options);
  }

  /** Jobs that failed for good: list, requeue or remove them. */
  get deadLetters(): DeadLetters {
    return this.deferrer.deadLetters;
  }

  /** The metrics in Prometheus' text format. */
  metrics(): string {
    return prometheusMetrics(this.deferrer);
  }
}
