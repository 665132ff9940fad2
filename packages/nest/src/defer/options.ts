import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { DeferOptions, SinkQueueOptions, Level, When } from '@redline/defer';
import type { HandlersOptions } from '@redline/defer/sinks/handlers';
import { inspect } from 'node:util';
import { notAnObject, unknownOption } from '../unknown-option.ts';
import { DeferModuleError } from './errors.ts';

export interface DeferModuleOptions extends DeferOptions {
  /**
   * Options for running the methods marked with `@AfterResponse({ level })`: all options of a sink's queue except the sink, and the
   * number of calls of a batch that run at a time (`concurrency`, 16 by default).
   */
  methods?: Omit<SinkQueueOptions, 'sink'> & HandlersOptions;
}

export interface DeferModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the caller's to type
  useFactory: (...dependencies: any[]) => DeferModuleOptions | Promise<DeferModuleOptions>;
}

export interface AfterResponseOptions<Arguments extends unknown[] = unknown[]> {
  /**
   * The failures that the call survives. Above `memory` its arguments must be JSON, and the method one of a provider or a
   * controller that is not request-scoped: another process may have to run it.
   * @default 'memory'
   */
  level?: Exclude<Level, 'outbox'>;
  /** @default 'always' */
  when?: When;
  /** Identifies the call, if the module's `methods` are `ordered: 'key'`. */
  key?: (...args: Arguments) => string;
  /**
   * Delay of the call in milliseconds. Its arguments must be JSON then, at level memory too, and the class not
   * request-scoped. Not for the level `sink`.
   */
  delayMs?: number;
  /** Returns the time of the call for its arguments, as a Date or milliseconds since 1970. */
  runAt?: (...args: Arguments) => Date | number;
  /**
   * The name of the method in the journal; calls left by an exited process are found by it.
   * @default 'Class.method'
   */
  name?: string;
}

const optionNames: Readonly<Record<keyof AfterResponseOptions, true>> = {
  level: true,
  when: true,
  key: true,
  delayMs: true,
  runAt: true,
  name: true,
};

/**
 * Checks the options: a mistyped `level` would be level memory, which would go unnoticed until jobs are lost.
 *
 * @throws {DeferModuleError} ERR_REDLINE_DEFER_METHOD_OPTION
 */
export function checkMethodOptions<Arguments extends unknown[]>(
  options: AfterResponseOptions<Arguments>,
): void {
  const of = '@AfterResponse';
  const wrong =
    notAnObject(of, options) ??
    unknownOption(of, options as AfterResponseOptions, optionNames) ??
    wrongValue(options);
  if (wrong !== undefined) throw new DeferModuleError('ERR_REDLINE_DEFER_METHOD_OPTION', wrong);
}

const levels: readonly unknown[] = ['memory', 'process', 'disk', 'sink'];
const whens: readonly unknown[] = ['success', 'always', 'aborted'];

function wrongValue<Arguments extends unknown[]>(
  options: AfterResponseOptions<Arguments>,
): string | undefined {
  const { level, when, key, delayMs, runAt, name } = options;
  if (!isAbsentOr(levels.includes(level), level)) return mustBe('level', quoted(levels), level);
  if (!isAbsentOr(whens.includes(when), when)) return mustBe('when', quoted(whens), when);
  if (!isAbsentOr(typeof key === 'function', key))
    return mustBe('key', 'a function of the arguments', key);
  if (!isAbsentOr(Number.isSafeInteger(delayMs) && delayMs! >= 0, delayMs))
    return mustBe('delayMs', 'a whole number of milliseconds, 0 or above', delayMs);
  if (!isAbsentOr(typeof runAt === 'function', runAt))
    return mustBe('runAt', 'a function of the arguments', runAt);
  if (!isAbsentOr(typeof name === 'string' && name !== '', name))
    return mustBe('name', 'a string', name);
  return undefined;
}

function isAbsentOr(isValid: boolean, value: unknown): boolean {
  return value === undefined || isValid;
}

function mustBe(name: string, wanted: string, value: unknown): string {
  return `The option ${name} of @AfterResponse must be ${wanted}; got ${inspect(value, { depth: 1 })}.`;
}

function quoted(words: readonly unknown[]): string {
  return `one of ${words.map((word) => `'${String(word)}'`).join(', ')}`;
}
