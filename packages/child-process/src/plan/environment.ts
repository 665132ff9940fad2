import { isMainThread } from 'node:worker_threads';
import { native } from '../native/engine.ts';

/** `KEY=value` strings; `null` stands for this process's own environment, which the engine reads itself. */
export type EnvironmentPairs = string[] | null;

const original = process.env;
// A worker has its own copy, and test runners replace the object.
const isReal = isMainThread && native !== undefined && isProcessEnvironment();

/** Returns the environment of a child, `undefined` if Node refuses a string in it. */
export function environmentPairs(
  given: NodeJS.ProcessEnv | undefined,
): EnvironmentPairs | undefined {
  if (!given) return isReal && process.env === original ? null : pairsOf(process.env);
  const pairs = pairsOf(given);
  const coverage = process.env['NODE_V8_COVERAGE'];
  if (coverage && pairs && !Object.hasOwn(given, 'NODE_V8_COVERAGE')) {
    pairs.push(`NODE_V8_COVERAGE=${coverage}`);
  }
  return pairs;
}

/** Returns the pairs as a list, without `null`. */
export function explicitPairs(pairs: EnvironmentPairs): string[] {
  return pairs ?? pairsOf(process.env) ?? [];
}

function pairsOf(env: NodeJS.ProcessEnv): string[] | undefined {
  const pairs: string[] = [];
  // Node includes inherited properties.
  // eslint-disable-next-line guard-for-in
  for (const key in env) {
    const value = env[key];
    if (value === undefined) continue;
    const pair = `${key}=${value}`;
    if (pair.includes('\0')) return undefined;
    pairs.push(pair);
  }
  return pairs;
}

function isProcessEnvironment(): boolean {
  const name = `REDLINE_PROBE_${process.pid}`;
  process.env[name] = '1';
  const isSeen = native!.addon.realEnvironmentVariable(name) === '1';
  delete process.env[name];
  return isSeen;
}
