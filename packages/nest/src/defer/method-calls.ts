import { dead, retry, type Delivery, type DeliveryResult, type Sink } from '@redline/defer';
import type { DeferredMethod } from './after-response.ts';

/** The sink of calls above level memory: runs each on the instance that has the method. */
export class MethodCalls implements Sink {
  readonly kind = 'methods';
  readonly runsHere = true;
  readonly #methods = new Map<string, { instance: object; method: DeferredMethod }>();
  readonly #isComplete: Promise<void>;
  #complete!: () => void;

  constructor() {
    this.#isComplete = new Promise((resolve) => {
      this.#complete = resolve;
    });
  }

  /** False when the name is taken. */
  add(name: string, instance: object, method: DeferredMethod): boolean {
    if (this.#methods.has(name)) return false;
    this.#methods.set(name, { instance, method });
    return true;
  }

  /** The app is made: calls of processes that are gone may be run. */
  complete(): void {
    this.#complete();
  }

  refuses(name: string): string | undefined {
    return this.#methods.has(name) ? undefined : 'no method with @AfterResponse has that name.';
  }

  async send(batch: readonly Delivery[]): Promise<readonly DeliveryResult[]> {
    await this.#isComplete;
    return Promise.all(batch.map((delivery) => this.#call(delivery)));
  }

  async #call(delivery: Delivery): Promise<DeliveryResult> {
    const found = this.#methods.get(delivery.job);
    if (found === undefined) return dead(new Error(this.refuses(delivery.job)));
    const { instance, method } = found;
    try {
      const args = JSON.parse(delivery.json) as unknown[];
      await delivery.run(() => method.original.apply(instance, args));
      return undefined;
    } catch (error) {
      const isFinal = (error as { retryable?: unknown } | undefined)?.retryable === false;
      return isFinal ? dead(error) : retry(error);
    }
  }
}
