import type { RunDelivery } from '@redline/defer';
import { checkMethodOptions, type AfterResponseOptions } from './options.ts';
import { DeferModuleError } from './errors.ts';

export const afterResponseMetadata: unique symbol = Symbol('AfterResponse');

/** The metadata that `@AfterResponse` leaves on a method. */
export interface DeferredMethod {
  readonly options: AfterResponseOptions<any[]>;
  readonly original: (...args: unknown[]) => unknown;
  /** Index of the parameter with `@InjectDelivery`. */
  readonly deliveryAt: number | undefined;
}

/** Schedules a call until its response has been sent. */
export type ScheduleCall = (method: DeferredMethod, self: object, args: unknown[]) => void;

const schedules = new WeakMap<object, ScheduleCall>();
let lastSchedule: ScheduleCall | undefined;

/** Sends the calls of an instance to the module of its app. */
export function assignSchedule(instance: object, schedule: ScheduleCall): void {
  schedules.set(instance, schedule);
}

/** Sets the module for unknown instances, those of a request: the one created last. */
export function setLastSchedule(schedule: ScheduleCall | undefined): void {
  lastSchedule = schedule;
}

/**
 * Runs the method after the response of the request it is called in, in that request's context; the call itself returns
 * nothing, at once. Works wherever the call comes from: a controller, a service, a guard, an exception filter.
 *
 * At level `memory` the arguments are passed unchanged; with a journal, an orderly exit keeps those that are JSON, and
 * the next process runs the call. Above, they are kept as JSON, and a call that a process did not run before it ended is
 * run by the next one.
 *
 * @throws {DeferError} what `defer()` throws
 * @throws {DeferModuleError} ERR_REDLINE_DEFER_NO_MODULE
 * @example
 * ```ts
 * @Injectable()
 * export class Audit {
 *   @AfterResponse({ level: 'process', when: 'success' })
 *   async record(entry: AuditEntry): Promise<void> {
 *     await this.entries.insert(entry);
 *   }
 * }
 * ```
 */
export function AfterResponse<Arguments extends any[]>(
  options: AfterResponseOptions<Arguments> = {},
): <Result extends void | Promise<void>>(
  target: object,
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<(...args: Arguments) => Result>,
) => void {
  checkMethodOptions(options);
  return (target, name, descriptor) => {
    const original = descriptor.value as DeferredMethod['original'];
    const method: DeferredMethod = { options, original, deliveryAt: deliveryAt(target, name) };
    // Callers of an async method may await it; the promise resolves once the call is deferred.
    const isAsync = original.constructor.name === 'AsyncFunction';
    const deferred = function (this: object, ...args: unknown[]): unknown {
      const schedule = schedules.get(this) ?? lastSchedule;
      if (schedule === undefined) {
        throw new DeferModuleError(
          'ERR_REDLINE_DEFER_NO_MODULE',
          `${this.constructor.name}.${String(name)} has @AfterResponse, but DeferModule is not imported.`,
        );
      }
      schedule(method, this, args);
      return isAsync ? Promise.resolve() : undefined;
    };
    // Other decorators may have set metadata before: routes, guards, Swagger.
    for (const key of Reflect.getMetadataKeys(original)) {
      Reflect.defineMetadata(key, Reflect.getMetadata(key, original), deferred);
    }
    Reflect.defineMetadata(afterResponseMetadata, method, deferred);
    Object.defineProperty(deferred, 'name', { value: original.name, configurable: true });
    descriptor.value = deferred as unknown as typeof descriptor.value;
  };
}

/** Calls the method with its caller's arguments, and the delivery at its index. */
export function run(
  { original, deliveryAt: at }: DeferredMethod,
  instance: object,
  given: readonly unknown[],
  delivery: RunDelivery,
): unknown {
  const args = [...given];
  if (at !== undefined) {
    while (args.length < at) args.push(undefined);
    args[at] = delivery;
  }
  return original.apply(instance, args);
}

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
