import type { SpawnOptions } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { planExtras, type Extras } from './extras.ts';
import { nodeChildProcess } from '../node/node-child-process.ts';
import type { ExtraOptions } from '../options.ts';
import { validSignal } from './signals.ts';
import { planStdio, type StdioPlan } from './stdio-plan.ts';
import { native } from '../native/engine.ts';

/** A spawn with validated arguments. */
export interface SpawnPlan {
  readonly file: string;
  /** With `argv[0]`, as given: the value of `spawnargs`. */
  readonly args: unknown[];
  /** `args` as text. */
  readonly argv: string[];
  readonly env: EnvironmentPairs;
  readonly cwd: string | null;
  readonly detached: boolean;
  readonly uid: number | null;
  readonly gid: number | null;
  readonly stdio: StdioPlan;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly killSignal: NodeJS.Signals | number | undefined;
  readonly serialization: 'json' | 'advanced' | undefined;
  readonly extras: Extras;
  readonly given: Given;
}

export type Given = { [Name in keyof (SpawnOptions & ExtraOptions)]: unknown };

const NONE: Given = Object.freeze(Object.create(null));

let hasWarned = false;

/**
 * Validates and normalises the arguments of `spawn`. Returns `undefined` if an argument is invalid or too unusual to decide
 * here: Node's own function, called with the same arguments, throws the precise error.
 */
export function planSpawn(file: unknown, args: unknown, options: unknown): SpawnPlan | undefined {
  if (!isCleanText(file) || file === '') return undefined;
  let list: unknown[] = [];
  if (Array.isArray(args)) {
    if (!args.every(isTextual)) return undefined;
    list = args.slice();
  } else {
    if (args !== undefined && args !== null) {
      if (typeof args !== 'object') return undefined;
      options = args;
    }
  }
  if (options === undefined) return planOptions(file, list, NONE);
  if (typeof options !== 'object' || options === null || Array.isArray(options)) return undefined;
  return planOptions(file, list, { __proto__: null, ...options } as Given);
}

function planOptions(file: string, args: unknown[], given: Given): SpawnPlan | undefined {
  const { shell, argv0, uid, gid, timeout, signal, serialization } = given;
  const cwd = pathOf(given.cwd);
  const env = environmentPairs(given.env as NodeJS.ProcessEnv | undefined);
  const stdio = planStdio(given.stdio);
  const killSignal = given.killSignal === null ? undefined : validSignal(given.killSignal);
  const isGood =
    cwd !== undefined &&
    env !== undefined &&
    stdio !== undefined &&
    isOptional(given.detached, 'boolean') &&
    isOptional(given.windowsHide, 'boolean') &&
    isOptional(given.windowsVerbatimArguments, 'boolean') &&
    isOptionalInt32(uid) &&
    isOptionalInt32(gid) &&
    (isOptional(shell, 'boolean') || isCleanText(shell)) &&
    (isNothing(argv0) || isCleanText(argv0)) &&
    (isNothing(timeout) || (Number.isInteger(timeout) && (timeout as number) >= 0)) &&
    (signal === undefined ||
      (typeof signal === 'object' && signal !== null && 'aborted' in signal)) &&
    (isNothing(given.killSignal) || killSignal !== undefined) &&
    (serialization === undefined || serialization === 'json' || serialization === 'advanced');
  if (!isGood) return undefined;
  const extras = planExtras(given);
  if (shell) {
    if (args.length > 0) warnOnce();
    args = ['-c', [file, ...args].join(' ')];
    file = typeof shell === 'string' ? shell : '/bin/sh';
  }
  args.unshift(typeof argv0 === 'string' ? argv0 : file);
  return {
    file,
    args,
    argv: textsOf(args),
    env,
    cwd: cwd === '' ? null : cwd,
    detached: Boolean(given.detached),
    uid: (uid as number | null) ?? null,
    gid: (gid as number | null) ?? null,
    stdio,
    timeoutMs: (timeout as number | null) ?? 0,
    signal: signal as AbortSignal | undefined,
    killSignal,
    serialization,
    extras,
    given,
  };
}

function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function isOptional(value: unknown, type: 'boolean'): boolean {
  return isNothing(value) || typeof value === type;
}

function isOptionalInt32(value: unknown): boolean {
  return isNothing(value) || (typeof value === 'number' && Object.is(value | 0, value));
}

/** Returns true for a string that the kernel accepts. */
export function isCleanText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function isTextual(value: unknown): boolean {
  return typeof value === 'string' ? !value.includes('\0') : typeof value !== 'symbol';
}

/** Like Node, converts all values in `args` to text, up to a NUL for non-strings. */
export function textsOf(args: unknown[]): string[] {
  if (args.every((value) => typeof value === 'string')) return args;
  return args.map((value) => String(value).split('\0', 1)[0]!);
}

/** Returns `null` without a cwd, `undefined` for one that is not a path. */
function pathOf(cwd: unknown): string | null | undefined {
  if (isNothing(cwd)) return null;
  if (isCleanText(cwd)) return cwd;
  if (!(cwd instanceof URL)) return undefined;
  try {
    return fileURLToPath(cwd);
  } catch {
    return undefined;
  }
}

function warnOnce(): void {
  if (hasWarned) return;
  hasWarned = true;
  try {
    // Emits Node's own warning (DEP0190), once; the invalid environment is refused after it.
    nodeChildProcess.spawn('none', ['argument'], { shell: true, env: { NONE: '\0' } });
  } catch {
    // Node throws the refusal.
  }
}

/** `KEY=value` strings; `null` stands for this process's own environment, which the engine reads itself. */
export type EnvironmentPairs = string[] | null;

const original = process.env;
// A worker has its own copy, and test runners replace the object.
const isReal = isMainThread && native !== undefined && isProcessEnvironment();

/** Returns the environment of a child, `undefined` if Node refuses a string in it. */
function environmentPairs(given: NodeJS.ProcessEnv | undefined): EnvironmentPairs | undefined {
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
