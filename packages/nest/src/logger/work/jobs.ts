import { isSafeId } from '../request-id.ts';
import { runWork, currentId, newestCore } from './run-work.ts';
import type { WorkFacts } from './work-log.ts';

/* Metadata keys of @nestjs/schedule and @nestjs/bullmq. */
const scheduleMetadata = 'SCHEDULER_TYPE';
const processorMetadata = 'bullmq:processor_metadata';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Class = abstract new (...args: never[]) => object;

const wrapped = new WeakSet<Method>();

/** Runs methods of timers and of queues' processors as pieces of work. Called before their own packages look for them. */
export function watchJobs(metatype: Class): void {
  const prototype = metatype.prototype as Record<string, unknown> | undefined;
  if (typeof prototype !== 'object' || prototype === null) return;
  for (const name of methodsOf(prototype)) {
    const method = prototype[name] as Method;
    if (wrapped.has(method)) continue;
    if (Reflect.hasMetadata(scheduleMetadata, method))
      wrap(prototype, name, () => ({
        kind: 'cron',
        pattern: `${metatype.name}.${name}`,
        id: undefined,
      }));
  }
  const { process } = prototype as { process?: unknown };
  if (typeof process !== 'function' || wrapped.has(process as Method)) return;
  if (Reflect.hasMetadata(processorMetadata, metatype)) wrap(prototype, 'process', jobFacts);
}

function methodsOf(prototype: object): string[] {
  const names = new Set<string>();
  for (
    let each: object = prototype;
    each !== Object.prototype;
    each = Object.getPrototypeOf(each)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(each)))
      if (name !== 'constructor' && typeof value === 'function') names.add(name);
    if (Object.getPrototypeOf(each) === null) break;
  }
  return [...names];
}

type Facts = Omit<WorkFacts, 'id'> & { readonly id: string | undefined };

function jobFacts(job: unknown): Facts {
  const { queueName, name, opts } = (job ?? {}) as Record<string, unknown>;
  const { requestId } = (opts ?? {}) as { requestId?: unknown };
  return {
    kind: 'job',
    pattern: `${String(queueName)}:${String(name)}`,
    id: isSafeId(requestId) ? requestId : undefined,
  };
}

function wrap(prototype: object, name: string, factsOf: (...args: unknown[]) => Facts): void {
  const method = Reflect.get(prototype, name) as Method;
  const watched: Method = function (...args) {
    const core = newestCore();
    if (core === undefined) return Reflect.apply(method, this, args);
    const facts = factsOf(...args);
    const id = facts.id ?? core.freshId();
    return runWork(core, { ...facts, id }, () => Reflect.apply(method, this, args));
  };
  for (const key of Reflect.getMetadataKeys(method))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), watched);
  Object.defineProperty(watched, 'name', { value: method.name });
  Object.defineProperty(watched, 'length', { value: method.length });
  wrapped.add(watched);
  Object.defineProperty(prototype, name, { value: watched, writable: true, configurable: true });
}

const carrying = new WeakSet<object>();

/** Makes a queue of BullMQ put the id into the options of its jobs, which keep unknown fields. */
export function carryInJobs(queue: object): void {
  const { add, addBulk } = queue as Record<'add' | 'addBulk', Method | undefined>;
  if (carrying.has(queue) || typeof add !== 'function' || typeof addBulk !== 'function') return;
  if (queue.constructor.name !== 'Queue') return;
  carrying.add(queue);
  const withId = (options: unknown): unknown => {
    const requestId = currentId();
    return requestId === undefined ? options : { requestId, ...(options as object) };
  };
  Object.assign(queue, {
    add(name: unknown, data: unknown, options?: unknown): unknown {
      return Reflect.apply(add, queue, [name, data, withId(options)]);
    },
    addBulk(jobs: readonly { opts?: unknown }[]): unknown {
      return Reflect.apply(addBulk, queue, [
        jobs.map((job) => ({ ...job, opts: withId(job.opts) })),
      ]);
    },
  });
}
