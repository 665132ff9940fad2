import { resolve } from 'node:path';
import { neverFailing, type DeferLogger } from './logger.ts';
import { systemClock, type Clock } from './clock.ts';
import { DeferError, levelError, optionError } from './errors.ts';
import { nodeFs, type JournalFs } from './journal/journal-fs.ts';
import { lifeSignEveryMs } from './journal/owner.ts';
import { resolveSeal, type SealOptions } from './seal/seal-options.ts';
import {
  resolveQueue,
  type SinkQueueOptions,
  type ResolvedQueue,
} from './sink-queue/queue-options.ts';
import { levels, type Level } from './job/job.ts';
import type { Outbox } from './outbox.ts';
import type { DeferContext, JobSpans, Sink } from './sink.ts';
import { oneOf, refuseUnknown, positive, positiveInteger, wholeNumber } from './validate.ts';

export const defaultReplayWindowMs = 60_000;

export interface JournalOptions {
  /**
   * Directory of the journals: on a local disk, the same for every process of the app on this host. Each process has
   * its own folder in it, and takes over those of exited processes.
   */
  directory: string;
  /**
   * Maximum number of bytes of this process's journals. Beyond it, `overflow` of the job's sink decides.
   * @default 1 GiB
   */
  maxBytes?: number;
  /**
   * Bytes after which a new file begins. A file is deleted when all its jobs are done.
   * @default 16 MiB
   */
  segmentBytes?: number;
  /**
   * Time for which acknowledged jobs are kept, in case the server of the sink comes back without them (a Redis without AOF,
   * or with `everysec`), in milliseconds in which the server is seen alive; 0 disables it. Only for sinks that detect a
   * restart of their server.
   * @default 60_000
   */
  replayWindowMs?: number;
  /**
   * Treatment of a job of level `process` or `disk` when the journal cannot be written: `'reject'`, it is not
   * acknowledged (the response is a 503); `'degrade'`, it is kept in memory and acknowledged.
   * @default 'reject'
   */
  onFailure?: 'reject' | 'degrade';
  /**
   * Interval between searches for folders of exited processes, in milliseconds.
   * @default 5_000
   */
  adoptEveryMs?: number;
  /**
   * Time without a sign of life after which the folder of a process in another container or host is taken over, in
   * milliseconds: 15_000 or more, because a sign is given every five seconds and one may be late. The exit of a process in the
   * same container, or in another one on a local Linux file system, is detected at once through the kernel.
   * @default 30_000
   */
  strangerTimeoutMs?: number;
  /** Seals the records of jobs and dead letters with AES-256-GCM. @default none: they are in clear */
  seal?: SealOptions;
  /** The calls to the file system, for tests. @default node:fs */
  fs?: JournalFs;
}

export interface ResolvedJournal extends Required<Omit<JournalOptions, 'seal'>> {
  readonly seal: Required<SealOptions> | undefined;
}

export interface ContextOptions {
  /** Called with each `defer()`: returns the part of the request's context that the job carries. Only strings. */
  capture?: () => Readonly<Record<string, string | undefined>> | undefined;
  /** Runs `work` with the captured context; called if the process that captured it has exited. */
  restore?: <T>(context: DeferContext, work: () => T) => T;
  /** Creates spans for the runs of jobs and for outgoing batches. */
  spans?: JobSpans;
}

export interface DeferOptions<SinkName extends string = string> {
  /** The sinks by name: a sink, or a sink with the options of its queue. */
  sinks?: Readonly<Record<SinkName, Sink | SinkQueueOptions>>;
  /**
   * Sink of jobs that name none at the call or in `defineJob`.
   * @default the only one
   */
  sink?: NoInfer<SinkName>;
  /**
   * Level of jobs that name none.
   * @default 'memory'
   */
  level?: Level;
  /** Needed by the levels `process` and `disk`, and by `overflow: 'spill'`. */
  journal?: JournalOptions;
  /** Closures given to `defer.after`, which exist only in memory. */
  after?: {
    /** Time limit of a closure, in milliseconds. @default 30_000 */
    timeoutMs?: number;
    /** Maximum number waiting or running; those beyond are dropped, with a warning. @default 10_000 */
    maxPending?: number;
  };
  /** Needed by the level `outbox`. */
  outbox?: Outbox;
  /** Parts of the request's context that a job carries, besides its trace context and its id. */
  context?: ContextOptions;
  /**
   * The largest job, in characters of its JSON.
   * @default 1_048_576
   */
  maxJobBytes?: number;
  /**
   * Maximum time for which the levels `sink` and `outbox`, and `overflow: 'block'`, hold a response, in milliseconds. After it
   * the response is a 503, and the job may still be delivered.
   * @default 5_000
   */
  acknowledgeTimeoutMs?: number;
  /**
   * Time for which `close()` and a signal wait for sinks to take the waiting jobs, in milliseconds.
   * @default 10_000
   */
  drainMs?: number;
  /**
   * Drains on SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGUSR2 if there are no other listeners; the process then ends by the signal,
   * and process 1 of a container with its exit code. With other listeners the first two drain, and those listeners decide what
   * the others mean.
   * @default true
   */
  handleSignals?: boolean;
  /**
   * Maximum number of dead letters; the oldest are removed first.
   * @default 10_000
   */
  maxDeadLetters?: number;
  /**
   * Logger for failures and recoveries; `false` disables it.
   * @default console
   */
  logger?: DeferLogger | false;
  /** For tests. @default the system's */
  clock?: Clock;
  /** For tests: the jitter. @default Math.random */
  random?: () => number;
}

export interface ResolvedOptions extends Readonly<
  Required<Omit<DeferOptions, 'sinks' | 'sink' | 'journal' | 'after' | 'outbox' | 'logger'>>
> {
  readonly queues: ReadonlyMap<string, ResolvedQueue>;
  readonly sink: string | undefined;
  readonly journal: ResolvedJournal | undefined;
  readonly after: Readonly<Required<NonNullable<DeferOptions['after']>>>;
  readonly outbox: Outbox | undefined;
  readonly logger: DeferLogger;
}

export function resolveOptions(options: DeferOptions): ResolvedOptions {
  refuseUnknown<keyof DeferOptions>('createDefer', options ?? null, {
    sinks: true,
    sink: true,
    level: true,
    journal: true,
    after: true,
    outbox: true,
    context: true,
    maxJobBytes: true,
    acknowledgeTimeoutMs: true,
    drainMs: true,
    handleSignals: true,
    maxDeadLetters: true,
    logger: true,
    clock: true,
    random: true,
  });
  refuseUnknown('after', options.after, { timeoutMs: true, maxPending: true });
  const queues = new Map<string, ResolvedQueue>();
  const journal = options.journal && resolveJournal(options.journal);
  for (const [name, given] of Object.entries(options.sinks ?? {})) {
    queues.set(name, resolveQueue(name, given, journal !== undefined));
  }
  if (options.sink !== undefined && !queues.has(options.sink)) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNKNOWN_SINK',
      `The option sink names "${options.sink}", which is not configured. Configured: ${listSinks(queues)}.`,
    );
  }
  const level = oneOf('level', options.level ?? 'memory', levels);
  checkLevel(level, journal !== undefined, options.outbox !== undefined);
  return {
    queues,
    sink: options.sink ?? (queues.size === 1 ? queues.keys().next().value : undefined),
    level,
    journal,
    after: {
      timeoutMs: positive('after.timeoutMs', options.after?.timeoutMs ?? 30_000),
      maxPending: positiveInteger('after.maxPending', options.after?.maxPending ?? 10_000),
    },
    outbox: options.outbox,
    context: options.context ?? {},
    maxJobBytes: positive('maxJobBytes', options.maxJobBytes ?? 1 << 20),
    acknowledgeTimeoutMs: positive('acknowledgeTimeoutMs', options.acknowledgeTimeoutMs ?? 5_000),
    drainMs: wholeNumber('drainMs', options.drainMs ?? 10_000),
    handleSignals: options.handleSignals ?? true,
    maxDeadLetters: positive('maxDeadLetters', options.maxDeadLetters ?? 10_000),
    logger: options.logger === false ? silent : neverFailing(options.logger ?? console),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

/** @throws {DeferError} ERR_REDLINE_DEFER_LEVEL */
export function checkLevel(level: Level, hasJournal: boolean, hasOutbox: boolean): void {
  if ((level === 'process' || level === 'disk') && !hasJournal) {
    throw levelError(
      `The level ${level} needs a journal: give createDefer the option journal with a directory.`,
    );
  }
  if (level === 'outbox' && !hasOutbox) {
    throw levelError('The level outbox needs an outbox: give createDefer the option outbox.');
  }
}

export function listSinks(queues: ReadonlyMap<string, unknown>): string {
  const names = [...queues.keys()].map((name) => `"${name}"`);
  return names.length === 0 ? 'none' : names.join(', ');
}

function resolveJournal(options: JournalOptions): ResolvedJournal {
  refuseUnknown<keyof JournalOptions>('journal', options, {
    directory: true,
    maxBytes: true,
    segmentBytes: true,
    replayWindowMs: true,
    onFailure: true,
    adoptEveryMs: true,
    strangerTimeoutMs: true,
    seal: true,
    fs: true,
  });
  if (typeof options.directory !== 'string' || options.directory === '') {
    throw optionError(
      `The option journal.directory must be a path; got ${String(options.directory)}.`,
    );
  }
  const maxBytes = positive('journal.maxBytes', options.maxBytes ?? 1 << 30);
  const segmentBytes = positive('journal.segmentBytes', options.segmentBytes ?? 16 << 20);
  return {
    // Absolute, because the app may change its working directory later.
    directory: resolve(options.directory),
    maxBytes,
    // Space is freed in whole segments: a quota of only one or two would never have any.
    segmentBytes: Math.min(segmentBytes, Math.ceil(maxBytes / 8)),
    replayWindowMs: wholeNumber(
      'journal.replayWindowMs',
      options.replayWindowMs ?? defaultReplayWindowMs,
    ),
    onFailure: oneOf('journal.onFailure', options.onFailure ?? 'reject', ['reject', 'degrade']),
    adoptEveryMs: positive('journal.adoptEveryMs', options.adoptEveryMs ?? 5_000),
    strangerTimeoutMs: strangerTimeout(options.strangerTimeoutMs),
    seal: resolveSeal(options.seal),
    fs: options.fs ?? nodeFs,
  };
}

/* A shorter timeout would take over the journal of a live process. */
function strangerTimeout(given = 30_000): number {
  const ms = positive('journal.strangerTimeoutMs', given);
  const minMs = 3 * lifeSignEveryMs;
  if (ms >= minMs) return ms;
  throw optionError(
    `The option journal.strangerTimeoutMs must be ${minMs} or more; got ${ms}: the owner of a journal gives a sign of life every ${lifeSignEveryMs} ms.`,
  );
}

const silent: DeferLogger = { warn: () => {}, log: () => {} };
