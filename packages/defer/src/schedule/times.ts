import { inspect } from 'node:util';
import { Cron } from 'croner';
import { messageOf } from '../thrown.ts';
import { optionError } from '../errors.ts';

/** The moments of a schedule, by the wall clock. */
export interface Times {
  /** Returns the last moment at or before `wallMs`; undefined if no moment is left. */
  latest(wallMs: number): number | undefined;
  /** Returns the first moment after `wallMs`; undefined if no moment is left. */
  next(wallMs: number): number | undefined;
}

const shortestMs = 100;

/**
 * Returns the same moments in every process: multiples of the interval since 1970. @throws {DeferError} ERR_REDLINE_DEFER_OPTION
 */
export function everyTimes(everyMs: unknown): Times {
  if (!Number.isSafeInteger(everyMs) || (everyMs as number) < shortestMs) {
    throw optionError(
      `The option everyMs must be a whole number of milliseconds, ${shortestMs} or above; got ${inspect(everyMs)}.`,
    );
  }
  const ms = everyMs as number;
  return {
    latest: (wallMs) => Math.floor(wallMs / ms) * ms,
    next: (wallMs) => (Math.floor(wallMs / ms) + 1) * ms,
  };
}

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function cronTimes(cron: unknown, timeZone: unknown): Times {
  if (typeof cron !== 'string') {
    throw optionError(
      `The option cron must be a string such as '0 7 * * 1-5'; got ${inspect(cron)}.`,
    );
  }
  if (typeof timeZone !== 'string') {
    throw optionError(
      `The option timeZone must be a name such as 'Europe/Vienna'; got ${inspect(timeZone)}.`,
    );
  }
  let parsed: Cron;
  try {
    // The parser does not check a zone until it is used.
    void new Intl.DateTimeFormat('en', { timeZone });
    parsed = new Cron(cron, { timezone: timeZone, paused: true });
  } catch (cause) {
    throw optionError(
      `The schedule '${cron}' in the time zone '${timeZone}' cannot be read: ${messageOf(cause)}`,
      cause,
    );
  }
  return {
    // The parser excludes the moment it is given.
    latest: (wallMs) => parsed.previousRuns(1, new Date(wallMs + 1))[0]?.getTime(),
    next: (wallMs) => parsed.nextRun(new Date(wallMs))?.getTime(),
  };
}
