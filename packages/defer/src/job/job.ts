import { optionError } from '../errors.ts';
import { oneOf, refuseUnknown } from '../validate.ts';

/**
 * The event that the response waits for, and so the failures that the job survives once the response has left:
 *
 * - `memory`: none; survives a SIGTERM within `drainMs`, and with a journal every orderly exit
 * - `process`: one `write()` per turn of the event loop; survives kill -9, out of memory, an outage of the sink
 * - `disk`: `fdatasync`; survives a power failure
 * - `sink`: the acknowledgement of the sink; survives what the sink survives
 * - `outbox`: the commit of the caller's own transaction; survives what the database survives
 */
export type Level = 'memory' | 'process' | 'disk' | 'sink' | 'outbox';

/**
 * The outcome of the request for which a job runs: `'success'`, the whole response left with a status below 400;
 * `'aborted'`, the client went away earlier; `'always'`.
 */
export type When = 'success' | 'always' | 'aborted';

/**
 * Treatment of a job whose key is held by a waiting job of the same name for the same sink:
 *
 * - `keep`: nothing is added; the waiting job stays as it is
 * - `replace`: it takes the place of the waiting job, with its own data, at the time of that job
 * - `extend`: the same at its own time: a job that is deferred again and again runs once, after the last call
 */
export type OnDuplicate = 'keep' | 'replace' | 'extend';

/** Treatment of a job when its queue is full. */
export type Overflow = 'spill' | 'block' | 'drop-oldest' | 'reject';

export const levels: readonly Level[] = ['memory', 'process', 'disk', 'sink', 'outbox'];
export const onDuplicates: readonly OnDuplicate[] = ['keep', 'replace', 'extend'];
export const whens: readonly When[] = ['success', 'always', 'aborted'];
export const overflows: readonly Overflow[] = ['spill', 'block', 'drop-oldest', 'reject'];

export interface JobOptions {
  /** Sink of its jobs. @default the `sink` of `createDefer` */
  sink?: string;
  /** @default the `level` of `createDefer` */
  level?: Level;
  /** @default 'always' */
  when?: When;
}

declare const dataType: unique symbol;

/** A kind of job: its name, and the type of its data. Made by `defineJob`. */
export interface JobDefinition<Data> {
  readonly name: string;
  readonly sink: string | undefined;
  readonly level: Level | undefined;
  readonly when: When | undefined;
  /** Never set: it only carries the type. */
  readonly [dataType]?: (data: Data) => void;
}

/** Types that JSON cannot carry: no job can have them as its data. */
export type Unserialisable = ((...args: never[]) => unknown) | symbol | bigint;

const known = new WeakSet<object>();

/**
 * Names a kind of job and the type of its data.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 * @example
 * ```ts
 * export const sendMail = defineJob<{ to: string }>('send-mail', { sink: 'mail', level: 'disk', when: 'success' });
 * ```
 */
export function defineJob<Data = undefined>(
  name: Data extends Unserialisable ? never : string,
  options: JobOptions = {},
): JobDefinition<Data> {
  if (typeof name !== 'string' || name === '') {
    throw optionError(
      `The name of a job must be a string with at least one character; got ${String(name)}.`,
    );
  }
  refuseUnknown('defineJob', options, { sink: true, level: true, when: true });
  const definition: JobDefinition<Data> = Object.freeze({
    name,
    sink: options.sink,
    level: options.level && oneOf('level', options.level, levels),
    when: options.when && oneOf('when', options.when, whens),
  });
  known.add(definition);
  return definition;
}

export function isJob(value: unknown): value is JobDefinition<unknown> {
  return typeof value === 'object' && value !== null && known.has(value);
}
