const deliveryMetadata = Symbol('InjectDelivery');

/**
 * Marks the parameter of a method with `@AfterResponse` that gets its delivery: the same id on every attempt, the
 * number of the attempt, and a signal that aborts when its time is up or the app closes. Callers omit it.
 *
 * At level `memory` there is one attempt, and the call keeps this id when an orderly exit hands it to the next process.
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

/** Returns the index of the marked parameter. Parameters are decorated before their method is. */
export function deliveryAt(target: object, name: string | symbol): number | undefined {
  return Reflect.getOwnMetadata(deliveryMetadata, target, name) as number | undefined;
}
