const deliveryMetadata = Symbol('InjectDelivery');

/**
 * Marks the parameter of a method with `@AfterResponse` that gets its delivery: the same id on every attempt, which
 * attempt it is, and a signal that aborts when its time is over or the app closes. Callers leave it out.
 *
 * At level `memory` there is one attempt, and the id is the one the call keeps when an orderly end of the process hands
 * it to the next one.
 *
 * @example
 * ```ts
 * @AfterResponse({ level: 'process' })
 * async charge(order: Order, @InjectDelivery() delivery?: RunDelivery): Promise<void> {
 *   await this.bank.charge(order, { idempotencyKey: delivery!.id, signal: delivery!.signal });
 * }
 * ```
 */
export function InjectDelivery(): ParameterDecorator {
  return (target, name, index) => {
    if (name !== undefined) Reflect.defineMetadata(deliveryMetadata, index, target, name);
  };
}

/** Parameters are decorated before their method is. */
export function deliveryAt(target: object, name: string | symbol): number | undefined {
  return Reflect.getOwnMetadata(deliveryMetadata, target, name) as number | undefined;
}
