import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import {
  DeferError,
  defineJob,
  type Deferrer,
  type JobDefinition,
  type RunDelivery,
  type Delivery,
  type DeliveryResult,
  type Sink,
  type SinkHost,
} from '@redline/defer';
import {
  afterResponseMetadata,
  assignSchedule,
  setLastSchedule,
  type DeferredMethod,
  type ScheduleCall,
  run,
} from './after-response.ts';
import { deferrerToken } from './defer-service.ts';
import { DeferModuleError } from './errors.ts';
import { handlers, type Handler, type HandlersOptions } from '@redline/defer/sinks/handlers';

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

/** Finds the methods with `@AfterResponse`, and passes their calls to the deferrer. */
@Injectable()
export class DeferredMethods {
  readonly #deferrer: Deferrer;
  readonly #calls: MethodCalls;
  readonly #discovery: DiscoveryService;
  readonly #scanner: MetadataScanner;
  readonly #jobs = new Map<string, JobDefinition<unknown[]>>();

  constructor(
    @Inject(deferrerToken) deferrer: Deferrer,
    @Inject(MethodCalls) calls: MethodCalls,
    @Inject(DiscoveryService) discovery: DiscoveryService,
    @Inject(MetadataScanner) scanner: MetadataScanner,
  ) {
    this.#deferrer = deferrer;
    this.#calls = calls;
    this.#discovery = discovery;
    this.#scanner = scanner;
    // Instances may call such methods while the app is being created.
    setLastSchedule(this.#schedule);
  }

  /** @throws {DeferModuleError} ERR_REDLINE_DEFER_METHOD_NAME, ERR_REDLINE_DEFER_METHOD_SCOPE */
  explore(): void {
    const seen = new Set<object>();
    const wrappers = [...this.#discovery.getProviders(), ...this.#discovery.getControllers()];
    for (const wrapper of wrappers) {
      const { instance, metatype } = wrapper;
      const prototype: object | undefined = metatype?.prototype;
      if (!prototype) continue;
      const isStatic = wrapper.isDependencyTreeStatic();
      const isKnown = typeof instance === 'object' && instance !== null && seen.has(instance);
      if (isKnown) continue;
      for (const name of this.#scanner.getAllMethodNames(prototype)) {
        const method = methodOf(prototype, name);
        if (method === undefined) continue;
        if (isStatic) this.#register(instance, method);
        else refuseRequestScope(prototype, method);
      }
      if (isStatic && instance) seen.add(instance);
    }
    this.#calls.complete();
  }

  forget(): void {
    setLastSchedule(undefined);
  }

  #register(instance: object, method: DeferredMethod): void {
    assignSchedule(instance, this.#schedule);
    const name = nameOf(method, instance);
    if (this.#calls.add(name, instance, method)) return;
    throw new DeferModuleError(
      'ERR_REDLINE_DEFER_METHOD_NAME',
      `Two methods with @AfterResponse are named ${name}: give one of them a name, @AfterResponse({ name: '…' }).`,
    );
  }

  readonly #schedule: ScheduleCall = (method, self, args) => {
    const { level = 'memory', when = 'always', key, delayMs, runAt } = method.options;
    const name = nameOf(method, self);
    const job = this.#jobOf(name);
    const keyOfCall = keyOf(name, key?.(...args));
    const keyed = keyOfCall !== undefined && { key: keyOfCall };
    const time = {
      ...(delayMs !== undefined && { delayMs }),
      ...(runAt !== undefined && { runAt: withoutRejection(runAt(...args)) }),
    };
    if (!needsInstance(method)) {
      const work = (delivery: RunDelivery): unknown =>
        run(method, self, args, { ...delivery, job: name, key: keyOfCall });
      // A call that another process can run as well is not lost when this one ends.
      const isKnown = this.#calls.refuses(name) === undefined;
      const standIn = { job, data: args, sink: 'methods', ...keyed };
      this.#deferrer.after(work, { when, ...(isKnown && { standIn }) });
      return;
    }
    this.#deferrer.defer(job, args, { level, when, sink: 'methods', ...keyed, ...time });
  };

  #jobOf(name: string): JobDefinition<unknown[]> {
    let job = this.#jobs.get(name);
    if (job === undefined) {
      job = defineJob<unknown[]>(name);
      this.#jobs.set(name, job);
    }
    return job;
  }
}

function keyOf(name: string, key: unknown): string | undefined {
  if (key === undefined || typeof key === 'string') return key;
  const kind =
    withoutRejection(key) instanceof Promise ? 'a promise' : `a value of type ${typeof key}`;
  throw new DeferError(
    'ERR_REDLINE_DEFER_OPTION',
    `The option key of ${name} must return a string; got ${kind}.`,
  );
}

/* A promise is refused as a value: its rejection has no listener, and would end the process. */
function withoutRejection<Value>(value: Value): Value {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}

function methodOf(prototype: object, name: string): DeferredMethod | undefined {
  const value: unknown = (prototype as Record<string, unknown>)[name];
  if (typeof value !== 'function') return undefined;
  return Reflect.getMetadata(afterResponseMetadata, value) as DeferredMethod | undefined;
}

function nameOf({ options, original }: DeferredMethod, instance: object): string {
  return options.name ?? `${instance.constructor.name}.${original.name}`;
}

/* At level memory a call keeps its own instance, unless it runs later: then it is kept as JSON. */
function needsInstance({ options: { level = 'memory', delayMs, runAt } }: DeferredMethod): boolean {
  return level !== 'memory' || delayMs !== undefined || runAt !== undefined;
}

/* The instance cannot be created again once the request is gone. */
function refuseRequestScope(prototype: object, method: DeferredMethod): void {
  if (!needsInstance(method)) return;
  const { options, original } = method;
  const what =
    options.level === undefined || options.level === 'memory'
      ? 'a delay'
      : `the level ${options.level}`;
  throw new DeferModuleError(
    'ERR_REDLINE_DEFER_METHOD_SCOPE',
    `${prototype.constructor.name}.${original.name} has @AfterResponse with ${what}, but its class is request-scoped: only level memory can hold its calls.`,
  );
}
