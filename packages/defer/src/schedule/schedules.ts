import { basename } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Level } from '../job/job.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalRoot } from '../journal/journal-root.ts';
import type { DeferLogger } from '../logger.ts';
import { optionError } from '../errors.ts';
import { oneOf, refuseUnknown } from '../validate.ts';
import { Claims } from './claims.ts';
import { parseKey, RunningSchedule, type Schedule, type ScheduleHost } from './schedule.ts';
import { cronTimes, everyTimes, type Times } from './times.ts';

export interface ScheduleOptions {
  /** Five fields, or six with seconds first, or seven with years last: `'0 7 * * 1-5'`; `'@daily'`. Either this or `everyMs`. */
  cron?: string;
  /**
   * The time zone of `cron`. A moment that a change of the clocks skips is an hour later, one that occurs twice counts once.
   * @default 'UTC'
   */
  timeZone?: string;
  /** The job is due at the multiples of this since 1970, in milliseconds: at the same moments in every process. */
  everyMs?: number;
  /**
   * Identifies the schedule among those of its journal's directory, and is the first part of its jobs' keys.
   * @default the name of the job
   */
  name?: string;
  /**
   * Treatment of moments that passed while no process ran: `'run'` runs the last of them at the start, `'skip'` none.
   * @default 'run'
   */
  missed?: 'run' | 'skip';
  /** Not `outbox`. @default the job's, then `'process'` with a journal and `createDefer`'s without one */
  level?: Level;
  /** @default the job's, then `createDefer`'s */
  sink?: string;
}

export interface SchedulesHost {
  readonly clock: Clock;
  readonly logger: DeferLogger;
  readonly root: JournalRoot<never> | undefined;
  readonly directory: string | undefined;
  readonly isSealed: boolean;
  readonly lookEveryMs: number;
}

export class Schedules {
  readonly #host: SchedulesHost;
  readonly #claims: Claims | undefined;
  readonly #running = new Set<Schedule>();

  constructor(host: SchedulesHost) {
    this.#host = host;
    this.#claims =
      host.directory === undefined ? undefined : new Claims(host.directory, host.isSealed);
  }

  /** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
  add(jobName: string, options: ScheduleOptions, defer: (key: string) => Promise<void>): Schedule {
    const times = timesOf(options);
    const { name = jobName, missed = 'run' } = options;
    if (typeof name !== 'string' || name === '') {
      throw optionError(`The option name of a schedule must be a string; got ${String(name)}.`);
    }
    oneOf('missed', missed, ['run', 'skip']);
    for (const each of this.#running) {
      if (each.name === name) {
        throw optionError(`There is a schedule "${name}" already: give this one another name.`);
      }
    }
    const { clock, logger, root, lookEveryMs } = this.#host;
    const host: ScheduleHost = {
      clock,
      logger,
      claims: this.#claims,
      owner: root === undefined ? '' : basename(root.own.folder),
      lookEveryMs,
      isGone: (owner) => root!.isGone(owner),
      defer,
      stopped: (stopped) => this.#running.delete(stopped),
    };
    const schedule = new RunningSchedule(name, times, missed === 'run', host);
    this.#running.add(schedule);
    return schedule;
  }

  /** Marks jobs found in the journal of an ended process as deferred, even if it ended before it could record that in its claim. */
  adopted(journal: Journal): void {
    for (const { record } of journal.keyed) {
      const tick = record.key === undefined ? undefined : parseKey(record.key);
      if (tick === undefined) continue;
      try {
        const claim = this.#claims!.read(tick.name, tick.tickMs);
        if (claim === undefined || claim.isDone) continue;
        this.#claims!.done(tick.name, tick.tickMs, claim.owner);
      } catch {
        // Without the mark it is deferred once more, with the same key.
      }
    }
  }

  stop(): void {
    for (const schedule of this.#running) schedule.stop();
  }
}

/* @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
function timesOf(options: ScheduleOptions): Times {
  refuseUnknown<keyof ScheduleOptions>('schedule', options ?? null, {
    cron: true,
    timeZone: true,
    everyMs: true,
    name: true,
    missed: true,
    level: true,
    sink: true,
  });
  const { cron, everyMs, timeZone } = options;
  if ((cron === undefined) === (everyMs === undefined)) {
    throw optionError('A schedule has either the option cron or the option everyMs.');
  }
  if (everyMs === undefined) return cronTimes(cron, timeZone ?? 'UTC');
  if (timeZone === undefined) return everyTimes(everyMs);
  throw optionError('The option timeZone belongs to cron: everyMs counts from 1970 everywhere.');
}
