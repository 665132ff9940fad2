import { ChildProcessError } from '../errors.ts';
import type { ExtraOptions } from '../options.ts';
import { EXTRA } from '../native/wire.ts';

const { DIES_WITH_PARENT, TREE, USAGE } = EXTRA;

/** The options beyond Node's, in the engine's form. */
export interface Extras {
  /** Bits of `EXTRA`. */
  readonly bits: number;
  /** `graceMs` of `killTree`. */
  readonly graceMs: number;
}

const GRACE_MS = 5_000;
const NONE: Extras = { bits: 0, graceMs: GRACE_MS };

/** The option names, for messages; the type keeps the list complete. */
export const extraNames: Readonly<Record<keyof ExtraOptions, true>> = {
  killTree: true,
  dieWithParent: true,
  resourceUsage: true,
};

export function givenExtras(options: Given): Given {
  const given: { [Name in keyof ExtraOptions]: unknown } = {};
  for (const name of Object.keys(extraNames) as (keyof ExtraOptions)[]) {
    if (options[name] !== undefined) given[name] = options[name];
  }
  return given;
}

/** @throws {ChildProcessError} for an invalid value of an option */
export function planExtras({ killTree, dieWithParent, resourceUsage }: Given): Extras {
  if (killTree === undefined && dieWithParent === undefined && resourceUsage === undefined)
    return NONE;
  const isTree = killTree !== null && typeof killTree === 'object';
  const bits =
    (flag('dieWithParent', dieWithParent) ? DIES_WITH_PARENT : 0) |
    (flag('resourceUsage', resourceUsage) ? USAGE : 0) |
    (isTree || flag('killTree', killTree, 'true, false or an object') ? TREE : 0);
  return { bits, graceMs: isTree ? graceOf('killTree.graceMs', killTree) : GRACE_MS };
}

type Given = { readonly [Name in keyof ExtraOptions]?: unknown };

function flag(name: string, value: unknown, kinds = 'true or false'): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw refused(name, kinds, value);
}

/** Returns the grace period of `killTree` options. */
export function graceOf(name: string, options: object): number {
  const { graceMs = GRACE_MS, ...others } = options as { graceMs?: unknown };
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined)
    throw new ChildProcessError(
      'ERR_REDLINE_CHILD_PROCESS_OPTION',
      `Unknown option "${unknown}" of killTree. Known options: graceMs.`,
    );
  // The max delay of Node's timers.
  if (typeof graceMs === 'number' && graceMs >= 0 && graceMs <= 2 ** 31 - 1) return graceMs;
  throw refused(name, 'a number of milliseconds from 0 to 2147483647', graceMs);
}

export function refused(name: string, kinds: string, value: unknown): ChildProcessError {
  return new ChildProcessError(
    'ERR_REDLINE_CHILD_PROCESS_OPTION',
    `The option ${name} must be ${kinds}; got ${describe(value)}.`,
  );
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}
