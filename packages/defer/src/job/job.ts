import { optionError } from '../errors.ts';
import { levels, whens, type Level, type When } from './level.ts';
import { oneOf, refuseUnknown } from '../validate.ts';

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
