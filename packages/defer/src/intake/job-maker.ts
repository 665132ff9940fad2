import { DeferError, optionError } from '../errors.ts';
import type { ResolvedQueue } from '../sink-queue/queue-options.ts';
import { messageOf } from '../thrown.ts';
import { captureAsyncContext, type Restore } from '../job/async-context.ts';
import {
  checkAfter,
  checkCall,
  noOptions,
  type AfterOptions,
  type DeferCallOptions,
  type StandIn,
  runAtMsOf,
} from '../job/call-options.ts';
import { isJob, type JobDefinition, type Level, type When } from '../job/job.ts';
import { PendingJob } from '../sink-queue/pending-job.ts';
import type { JobRecord } from '../journal/job-record.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { checkLevel, type ResolvedOptions, type ContextOptions } from '../options.ts';
import type { Scope } from '../request/scope.ts';
import type { DeferContext, RunDelivery } from '../sink.ts';
import { closureAbove, neverWaits, refused, unknownJob } from './refusals.ts';

/**
 * Returns the data as JSON.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_UNSERIALISABLE, _TOO_LARGE
 */
export function serialise(
  name: string,
  data: unknown,
  queue: ResolvedQueue,
  maxJobBytes: number,
): string {
  let json: string | undefined;
  try {
    json = data === undefined ? 'null' : JSON.stringify(data);
  } catch (cause) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The data of the job ${name} cannot be serialised to JSON: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (json === undefined) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The data of the job ${name} is a ${typeof data}, which JSON cannot carry.`,
    );
  }
  const maxLength = Math.min(maxJobBytes, queue.maxJobBytes);
  if (json.length <= maxLength) return json;
  throw new DeferError(
    'ERR_REDLINE_DEFER_TOO_LARGE',
    `The data of the job ${name} is ${json.length} characters of JSON, and ${queue.maxJobBytes === maxLength ? `the sink ${queue.name}` : 'maxJobBytes'} allows ${maxLength}.`,
  );
}

export interface JobMakerHost {
  readonly ids: Ids;
  /** @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK */
  queueFor(name: string | undefined): SinkQueue;
  restoreFrom(context: DeferContext | undefined): Restore | undefined;
}

/** Makes jobs from calls: checks the arguments and turns them into a record. A refused call keeps nothing. */
export class JobMaker {
  readonly #options: ResolvedOptions;
  /** Name of the queue of the closures. */
  readonly #after: string;
  readonly #host: JobMakerHost;

  constructor(options: ResolvedOptions, after: string, host: JobMakerHost) {
    this.#options = options;
    this.#after = after;
    this.#host = host;
  }

  /**
   * @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _UNSERIALISABLE, _TOO_LARGE, _REFUSED, _LEVEL,
   * _OPTION
   */
  make<Data>(
    definition: JobDefinition<Data>,
    data: Data,
    call: DeferCallOptions = noOptions,
    scope: Scope | undefined,
  ): PendingJob {
    if (!isJob(definition)) throw unknownJob(definition);
    if (call !== noOptions) checkCall(call);
    const options = this.#options;
    const queue = this.#host.queueFor(call.sink ?? definition.sink ?? options.sink);
    const level = call.level ?? definition.level ?? options.level;
    const when = call.when ?? definition.when ?? 'always';
    const deferredAtMs = options.clock.wall();
    const runAtMs = runAtMsOf(call, level, deferredAtMs);
    const json = serialise(definition.name, data, queue.options, options.maxJobBytes);
    const refusal = queue.options.sink.refuses?.(definition.name, call.options);
    if (refusal !== undefined) throw refused(definition.name, queue.name, refusal);
    if (call.onDuplicate !== undefined && (level === 'sink' || level === 'outbox')) {
      throw neverWaits(level);
    }
    // The level outbox has its own check, which includes the transaction.
    if (level !== 'memory' && level !== 'outbox') {
      checkLevel(level, options.journal !== undefined, true);
    }
    const record: JobRecord = {
      id: this.#host.ids.next(),
      sink: queue.name,
      job: definition.name,
      key: call.key,
      json,
      deferredAtMs,
      attempt: 1,
      context: captureContext(scope, options.context),
      options: call.options,
      runAtMs,
      onDuplicate: call.onDuplicate,
    };
    const restore = queue.options.sink.runsHere ? this.#restoreOf(record) : undefined;
    return new PendingJob(record, level, when, restore);
  }

  /** @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_JOB, _UNKNOWN_SINK, _LEVEL, _OPTION */
  makeClosure(
    work: (delivery: RunDelivery) => unknown,
    call: AfterOptions,
    scope: Scope | undefined,
  ): PendingJob {
    if (typeof work !== 'function') throw unknownJob(work);
    checkAfter(call);
    const { level = 'memory', when = 'always' } = call as { level?: Level; when?: When };
    if (level !== 'memory') throw closureAbove(level);
    const record: JobRecord = {
      id: this.#host.ids.next(),
      sink: this.#after,
      job: work.name === '' ? 'closure' : work.name,
      key: call.standIn?.key,
      json: 'null',
      deferredAtMs: this.#options.clock.wall(),
      attempt: 1,
      context: undefined,
      options: undefined,
    };
    const job = new PendingJob(record, 'memory', when, captureAsyncContext());
    job.work = work;
    if (call.standIn !== undefined && this.#options.journal !== undefined) {
      job.standIn = this.#standIn(call.standIn, record, scope);
    }
    return job;
  }

  /* A job that runs later does not keep its request in memory until then. */
  #restoreOf({ runAtMs, context }: JobRecord): Restore | undefined {
    return runAtMs === undefined ? captureAsyncContext() : this.#host.restoreFrom(context);
  }

  /* Serialises its data only when needed, which is rare. @throws {DeferError} ERR_REDLINE_DEFER_UNKNOWN_SINK */
  #standIn(
    { job, data, sink }: StandIn,
    { id, key, deferredAtMs }: JobRecord,
    scope: Scope | undefined,
  ): () => JobRecord {
    const options = this.#options;
    const queue = this.#host.queueFor(sink ?? job.sink ?? options.sink);
    const context = captureContext(scope, options.context);
    return () => ({
      id,
      sink: queue.name,
      job: job.name,
      key,
      json: serialise(job.name, data, queue.options, options.maxJobBytes),
      deferredAtMs,
      attempt: 1,
      context,
      options: undefined,
    });
  }
}

const digits = 36;
const perBlock = digits ** 2;
/* Formatting a number in base 36 takes V8 ten times as long as a table lookup. */
const lastTwo: readonly string[] = Array.from({ length: perBlock }, (_, n) =>
  n.toString(digits).padStart(2, '0'),
);

/** Generates the ids of one process: `PREFIX-1a2`, each once. */
export class Ids {
  readonly #prefix: string;
  #block = 0;
  #next = 0;
  #start: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#start = `${prefix}-0`;
  }

  next(): string {
    if (this.#next === perBlock) {
      this.#next = 0;
      this.#start = `${this.#prefix}-${(++this.#block).toString(digits)}`;
    }
    return this.#start + lastTwo[this.#next++]!;
  }
}

/** Returns the context a job carries, from its request and from the app. */
export function captureContext(
  scope: Scope | undefined,
  { capture }: ContextOptions,
): DeferContext | undefined {
  const facts = scope?.facts;
  const captured = objectOf(capture?.());
  if (captured === undefined) {
    if (facts === undefined) return undefined;
    const { traceparent, requestId } = facts;
    return traceparent === undefined && requestId === undefined ? undefined : facts;
  }
  return { ...facts, ...captured };
}

/* A promise would be spread into nothing, and its rejection would end the process. */
function objectOf<Captured>(captured: Captured): Captured {
  if (!(captured instanceof Promise)) return captured;
  captured.catch(() => {});
  throw optionError(
    'The option context.capture must return an object of strings; got a promise: read the context without await.',
  );
}
