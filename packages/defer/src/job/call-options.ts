import { inspect } from 'node:util';
import { DeferError, optionError, levelError } from '../errors.ts';
import {
  type JobDefinition,
  levels,
  onDuplicates,
  whens,
  type Level,
  type OnDuplicate,
  type When,
} from './job.ts';
import { messageOf } from '../thrown.ts';
import { oneOf, refuseUnknown } from '../validate.ts';

export interface DeferCallOptions {
  /**
   * Identifies this job among others of its kind: sinks that dedupe do so by the key, `ordered: 'key'` orders by it,
   * partitioned sinks partition by it.
   * @default the job's own id, which is unique
   */
  key?: string;
  /**
   * Treatment of a waiting job with the same key: `'keep'` leaves that one and adds nothing; `'replace'` takes its place
   * and time; `'extend'` takes its place at the new time. A job that is being sent no longer waits. Only the process that
   * deferred such a job, or adopted its journal, knows it and can cancel it. Not for the levels `sink` and `outbox`.
   */
  onDuplicate?: OnDuplicate;
  /** @default the job's, then `createDefer`'s */
  level?: Level;
  /** @default the job's, then `createDefer`'s */
  sink?: string;
  /** Not for level `outbox`, whose jobs are part of their transaction. @default the job's, then 'always' */
  when?: When;
  /**
   * The job reaches its sink this many milliseconds after the call, or as soon as possible after that. With a journal
   * it waits there, and survives what its level survives; without one it occupies memory like any other job. It has the
   * trace of its request and the result of `context.restore`, not its AsyncLocalStorage. Not for the levels `sink` and
   * `outbox`.
   */
  delayMs?: number;
  /** The job runs at this time: a Date, or milliseconds since 1970. A time in the past means now. */
  runAt?: Date | number;
  /** For the sink: delay, priority, headers… An object that JSON can carry. */
  options?: Readonly<Record<string, unknown>>;
  /**
   * The request that defers the job, if its code runs outside of the request's own context: in callbacks of a shared
   * connection, in the queue of a limiter. The request or response of Node, or of the framework. `null`: none, such as in
   * a timer of the app.
   * @default the request in whose context the call is made
   */
  request?: object | null;
  /**
   * Level `outbox`: the caller's transaction. Either the `pg` client that began it, or the object that Knex, Drizzle (on `pg` or
   * postgres.js) or postgres.js pass to their callback.
   */
  transaction?: unknown;
}

/** A closure cannot be journaled: memory is its only level. */
export interface AfterOptions {
  level?: 'memory';
  /** @default 'always' */
  when?: When;
  /** As for `defer`. @default the request in whose context the call is made */
  request?: object | null;
  /**
   * A job that does the same work. It is journaled in place of the closure if the process ends before the closure has
   * run, and the next process runs it: so it survives what a job of level `memory` survives. Its data must be JSON.
   */
  standIn?: StandIn;
}

export interface StandIn {
  readonly job: JobDefinition<never>;
  readonly data: unknown;
  /** @default the job's, then `createDefer`'s */
  readonly sink?: string;
  /** Also the key in the closure's delivery. */
  readonly key?: string;
}

export const noOptions: DeferCallOptions = {};

const known: Record<keyof DeferCallOptions, true> = {
  key: true,
  level: true,
  sink: true,
  when: true,
  options: true,
  transaction: true,
  delayMs: true,
  runAt: true,
  request: true,
  onDuplicate: true,
};

const knownAfter: Record<keyof AfterOptions, true> = {
  level: true,
  when: true,
  standIn: true,
  request: true,
};

/* Validated at the call, so that a wrong value never reaches a journal, and a mistyped level does not become a lower one. */
export function checkCall(call: DeferCallOptions): void {
  refuseUnknown('defer', call, known);
  const { key, level, when, options } = call;
  if (key !== undefined) checkKey(key);
  if (level !== undefined) oneOf('level', level, levels);
  if (when !== undefined) oneOf('when', when, whens);
  if (call.onDuplicate !== undefined) checkDuplicate(call.onDuplicate, key);
  checkTime(call);
  checkRequest(call.request);
  if (options !== undefined) checkSinkOptions(options);
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function checkKey(key: unknown): asserts key is string {
  if (typeof key === 'string') return;
  throw optionError(`The option key must be a string; got ${shown(key)}.`);
}

function checkDuplicate(onDuplicate: OnDuplicate, key: string | undefined): void {
  oneOf('onDuplicate', onDuplicate, onDuplicates);
  if (key !== undefined) return;
  throw optionError(
    `The option onDuplicate ('${onDuplicate}') needs a key, which says what is a duplicate.`,
  );
}

function checkRequest(request: unknown): void {
  if (request === undefined || typeof request === 'object') return;
  throw optionError(
    `The option request must be a request, a response or null; got ${shown(request)}.`,
  );
}

/* Values that JSON omits or changes would not be an object again when the journal is read. */
function checkSinkOptions(options: unknown): void {
  let json: string | undefined;
  try {
    json = JSON.stringify(options);
  } catch (cause) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNSERIALISABLE',
      `The sink's options cannot be serialised to JSON: ${messageOf(cause)}`,
      { cause },
    );
  }
  if (json?.startsWith('{')) return;
  throw optionError(
    `The option options must be an object that JSON can carry; got ${shown(options)}.`,
  );
}

function shown(value: unknown): string {
  return inspect(value, { depth: 0 });
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function checkAfter(options: AfterOptions): void {
  refuseUnknown('defer.after', options, knownAfter);
  if (options.when !== undefined) oneOf('when', options.when, whens);
  checkRequest(options.request);
}

/** Time at which a job runs. */
export interface RunTime {
  readonly delayMs?: number;
  readonly runAt?: Date | number;
}

/** The last moment a Date can represent. */
const lastMs = 8.64e15;
/** Keeps the resulting moment within that range as well. */
const longestMs = lastMs / 2;
/** 1973: a smaller number was meant to be something else, most likely seconds. */
const firstMs = 1e11;

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function checkTime({ delayMs, runAt }: RunTime): void {
  if (delayMs !== undefined && runAt !== undefined) {
    throw optionError('The options delayMs and runAt exclude each other.');
  }
  if (
    delayMs !== undefined &&
    !(typeof delayMs === 'number' && delayMs >= 0 && delayMs <= longestMs)
  ) {
    throw optionError(
      `The option delayMs must be a number of milliseconds, 0 or above; got ${timeShown(delayMs)}.`,
    );
  }
  if (runAt === undefined) return;
  const ms: unknown = runAt instanceof Date ? runAt.getTime() : runAt;
  const isTime = typeof ms === 'number' && Math.abs(ms) <= lastMs;
  if (isTime && (runAt instanceof Date || ms >= firstMs)) return;
  throw optionError(
    `The option runAt must be a Date, or milliseconds since 1970; got ${timeShown(runAt)}${isTime ? ', which is long ago: is it in seconds?' : '.'}`,
  );
}

/**
 * Returns the wall clock of the moment a job is to run; undefined for now.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_LEVEL
 */
export function runAtMsOf(
  { delayMs, runAt }: RunTime,
  level: Level,
  nowMs: number,
): number | undefined {
  if (delayMs === undefined && runAt === undefined) return undefined;
  const runAtMs = delayMs === undefined ? Number(runAt) : nowMs + delayMs;
  if (runAtMs <= nowMs) return undefined;
  if (level !== 'sink' && level !== 'outbox') return runAtMs;
  throw levelError(
    level === 'sink'
      ? 'At level sink the response waits for the sink: a job that runs later needs another level.'
      : 'A job of level outbox goes to its sink on commit: a job that runs later needs another level.',
  );
}

function timeShown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
