import type { Delivery, DeliveryResult, Sink, SinkHost } from '@redline/defer';
import { handlers, type Handler, type HandlersOptions } from '@redline/defer/sinks/handlers';
import type { DeferredMethod } from './after-response.ts';
import { run } from './after-response.ts';

/** The sink of calls above level memory: runs each on the instance that has the method. */
export class MethodCalls implements Sink {
  readonly kind = 'methods';
  readonly runsHere = true;
  readonly timesJobs = true;
  options: HandlersOptions = {};
  readonly #methods = new Map<string, Handler>();
  readonly #work = Promise.withResolvers<Sink>();
  #host: SinkHost | undefined;

  /** Returns false if the name is taken. */
  add(name: string, instance: object, method: DeferredMethod): boolean {
    if (this.#methods.has(name)) return false;
    this.#methods.set(name, (args: unknown[], delivery, signal) => {
      const { id, job, key, attempt, deferredAtMs, redelivered } = delivery;
      const own = { id, job, key, attempt, deferredAtMs, redelivered, signal };
      return run(method, instance, args, own);
    });
    return true;
  }

  /** Called once the app is created: calls of exited processes may run. */
  complete(): void {
    const work = handlers(Object.fromEntries(this.#methods), this.options);
    void work.open?.(this.#host!);
    this.#work.resolve(work);
  }

  open(host: SinkHost): void {
    this.#host = host;
  }

  refuses(name: string): string | undefined {
    return this.#methods.has(name) ? undefined : 'no method with @AfterResponse has that name.';
  }

  async send(
    batch: readonly Delivery[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryResult[] | undefined | void> {
    return (await this.#work.promise).send(batch, signal);
  }
}
