import { inspect } from 'node:util';
import { notAnObject, unknownOption } from '../unknown-option.ts';
import { DeferModuleError } from './errors.ts';
import type { AfterResponseOptions } from './options.ts';

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
