import { levelError, optionError } from '../errors.ts';
import type { Level } from './level.ts';

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
      `The option delayMs must be a number of milliseconds, 0 or above; got ${shown(delayMs)}.`,
    );
  }
  if (runAt === undefined) return;
  const ms: unknown = runAt instanceof Date ? runAt.getTime() : runAt;
  const isTime = typeof ms === 'number' && Math.abs(ms) <= lastMs;
  if (isTime && (runAt instanceof Date || ms >= firstMs)) return;
  throw optionError(
    `The option runAt must be a Date, or milliseconds since 1970; got ${shown(runAt)}${isTime ? ', which is long ago: is it in seconds?' : '.'}`,
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

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
