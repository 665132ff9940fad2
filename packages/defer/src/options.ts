import { resolve } from 'node:path';
import { neverFailing, type DeferLogger } from './logger.ts';
import { systemClock, type Clock } from './clock.ts';
import { DeferError } from './errors.ts';
import { nodeFs, type JournalFs } from './journal/journal-fs.ts';
import { lifeSignEveryMs } from './journal/owner.ts';
import { resolveLane, type LaneOptions, type ResolvedLane } from './lane/lane-options.ts';
import { levels, type Level } from './job/level.ts';
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
   * How long acknowledged jobs are kept, in case the server of the sink comes back without them (a Redis without AOF,
   * or with `everysec`), in milliseconds in which the server is seen alive; 0 disables it. Only for sinks that detect a
   * restart of their server.
   * @default 60_000
   */
  replayWindowMs?: number;
  /**
   * What happens to a job of level `process` or `disk` when the journal cannot be written: `'reject'`, it is not
   * acknowledged (the response is a 503); `'degrade'`, it is kept in memory and acknowledged.
   * @default 'reject'
   */
  onFailure?: 'reject' | 'degrade';
  /**
   * How often to look for folders of exited processes, in milliseconds.
   * @default 5_000
   */
  adoptEveryMs?: number;
  /**
   * How long the folder of a process in another container or host must show no sign of life until it is taken over, in
   * milliseconds: 15_000 or more, because a sign is given every five seconds and one may be late. Of a process in the
   * same container, and of one in another on a local file system of Linux, the kernel knows at once.
   * @default 30_000
   */
  strangerTimeoutMs?: number;
  /** The calls to the file system, for tests. @default node:fs */
  fs?: JournalFs;
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
  /** The sinks by name: a sink, or a sink with the options of its lane. */
  sinks?: Readonly<Record<SinkName, Sink | LaneOptions>>;
  /**
   * The sink of jobs that name none, neither at the call nor in `defineJob`.
   * @default the only one
   */
  sink?: NoInfer<SinkName>;
  /**
   * The level of a job that names none.
   * @default 'memory'
   */
  level?: Level;
  /** Needed by the levels `process` and `disk`, and by `overflow: 'spill'`. */
  journal?: JournalOptions;
  /** Closures given to `defer.after`, which exist only in memory. */
  after?: {
    /** How long one is waited for, in milliseconds. @default 30_000 */
    timeoutMs?: number;
    /** How many may wait or run; those beyond are dropped, with a warning. @default 10_000 */
    maxPending?: number;
  };
  /** Needed by the level `outbox`. */
  outbox?: Outbox;
  /** Which parts of the request's context a job carries, besides its trace context and its id. */
  context?: ContextOptions;
  /**
   * The largest job, in characters of its JSON.
   * @default 1_048_576
   */
  maxJobBytes?: number;
  /**
   * How long the levels `sink` and `outbox`, and `overflow: 'block'`, may hold a response, in milliseconds. Then it is a 503, and the job
   * may still be delivered.
   * @default 5_000
   */
  acknowledgeTimeoutMs?: number;
  /**
   * How long `close()` and a signal wait for sinks to take the waiting jobs, in milliseconds.
   * @default 10_000
   */
  drainMs?: number;
  /**
   * Drain on SIGTERM, SIGINT, SIGHUP, SIGQUIT and SIGUSR2 without other listeners; the process then ends by the signal, and
   * process 1 of a container with its exit code. With other listeners the first two drain, and the others mean what those
   * make of them.
   * @default true
   */
  handleSignals?: boolean;
  /**
   * Maximum number of dead letters; the oldest are removed first.
   * @default 10_000
   */
  maxDeadLetters?: number;
  /**
   * Logger for trouble; `false` disables it.
   * @default console
   */
  logger?: DeferLogger | false;
  /** For tests. @default the system's */
  clock?: Clock;
  /** For tests: the jitter. @default Math.random */
  random?: () => number;
}

export interface ResolvedOptions {
  readonly lanes: ReadonlyMap<string, ResolvedLane>;
  readonly sink: string | undefined;
  readonly level: Level;
  readonly journal: Required<JournalOptions> | undefined;
  readonly after: { readonly timeoutMs: number; readonly maxPending: number };
  readonly outbox: Outbox | undefined;
  readonly context: ContextOptions;
  readonly maxJobBytes: number;
  readonly acknowledgeTimeoutMs: number;
  readonly drainMs: number;
  readonly handleSignals: boolean;
  readonly maxDeadLetters: number;
  readonly logger: DeferLogger;
  readonly clock: Clock;
  readonly random: () => number;
}

export function resolveOptions(options: DeferOptions): ResolvedOptions {
  refuseUnknown('createDefer', options ?? null, optionNames);
  refuseUnknown('after', options.after, { timeoutMs: true, maxPending: true });
  const lanes = new Map<string, ResolvedLane>();
  const journal = options.journal && resolveJournal(options.journal);
  for (const [name, lane] of Object.entries(options.sinks ?? {})) {
    lanes.set(name, resolveLane(name, lane, journal !== undefined));
  }
  if (options.sink !== undefined && !lanes.has(options.sink)) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_UNKNOWN_SINK',
      `The option sink names "${options.sink}", which is not configured. Configured: ${listSinks(lanes)}.`,
    );
  }
  const level = oneOf('level', options.level ?? 'memory', levels);
  checkLevel(level, journal !== undefined, options.outbox !== undefined);
  return {
    lanes,
    sink: options.sink ?? (lanes.size === 1 ? lanes.keys().next().value : undefined),
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
    throw new DeferError(
      'ERR_REDLINE_DEFER_LEVEL',
      `The level ${level} needs a journal: give createDefer the option journal with a directory.`,
    );
  }
  if (level === 'outbox' && !hasOutbox) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_LEVEL',
      'The level outbox needs an outbox: give createDefer the option outbox.',
    );
  }
}

export function listSinks(lanes: ReadonlyMap<string, unknown>): string {
  const names = [...lanes.keys()].map((name) => `"${name}"`);
  return names.length === 0 ? 'none' : names.join(', ');
}

const optionNames = {
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
} as const satisfies Record<keyof DeferOptions, true>;

const journalNames = {
  directory: true,
  maxBytes: true,
  segmentBytes: true,
  replayWindowMs: true,
  onFailure: true,
  adoptEveryMs: true,
  strangerTimeoutMs: true,
  fs: true,
} as const satisfies Record<keyof JournalOptions, true>;

function resolveJournal(options: JournalOptions): Required<JournalOptions> {
  refuseUnknown('journal', options, journalNames);
  if (typeof options.directory !== 'string' || options.directory === '') {
    throw new DeferError(
      'ERR_REDLINE_DEFER_OPTION',
      `The option journal.directory must be a path; got ${String(options.directory)}.`,
    );
  }
  const maxBytes = positive('journal.maxBytes', options.maxBytes ?? 1 << 30);
  const segmentBytes = positive('journal.segmentBytes', options.segmentBytes ?? 16 << 20);
  return {
    // The app may change its working directory later, and the journal stays where it is.
    directory: resolve(options.directory),
    maxBytes,
    // Room is made by whole segments: a quota of one or two would never have any.
    segmentBytes: Math.min(segmentBytes, Math.ceil(maxBytes / 8)),
    replayWindowMs: wholeNumber(
      'journal.replayWindowMs',
      options.replayWindowMs ?? defaultReplayWindowMs,
    ),
    onFailure: oneOf('journal.onFailure', options.onFailure ?? 'reject', ['reject', 'degrade']),
    adoptEveryMs: positive('journal.adoptEveryMs', options.adoptEveryMs ?? 5_000),
    strangerTimeoutMs: strangerTimeout(options.strangerTimeoutMs),
    fs: options.fs ?? nodeFs,
  };
}

/* Less would take the journal of one that lives. */
function strangerTimeout(given = 30_000): number {
  const ms = positive('journal.strangerTimeoutMs', given);
  const least = 3 * lifeSignEveryMs;
  if (ms >= least) return ms;
  throw new DeferError(
    'ERR_REDLINE_DEFER_OPTION',
    `The option journal.strangerTimeoutMs must be ${least} or more; got ${ms}: the owner of a journal gives a sign of life every ${lifeSignEveryMs} ms.`,
  );
}

const silent: DeferLogger = { warn: () => {}, log: () => {} };
