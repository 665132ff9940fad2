// Channels of node:diagnostics_channel for monitoring the engine. Without subscribers, a spawn makes four checks for
// subscribers, and the engine measures nothing.
import { channel } from 'node:diagnostics_channel';
import * as perfHooks from 'node:perf_hooks';
import type { RecordableHistogram } from 'node:perf_hooks';
import type { ChildProcess } from 'node:child_process';
import type { ChildResourceUsage } from '../options.ts';
import { EXTRA, FIGURE } from '../native/wire.ts';

const { TIMES, USAGE } = EXTRA;

const queue = channel('redline:child-process:queue');
const start = channel('redline:child-process:start');
const end = channel('redline:child-process:end');
const usages = channel('redline:child-process:usage');

/** Times of a child's events, in milliseconds of `performance.now()`. */
export interface ChildTimes {
  /** The call of `spawn`, `exec`, `execFile` or `fork`. */
  readonly queuedAt: number;
  /** A thread of the engine began the start; `undefined` for a child that the engine refused. */
  readonly takenAt: number | undefined;
  /** The program ran; `undefined` if it could not be started. */
  readonly startedAt: number | undefined;
  /** The engine noticed the end; `undefined` until then. */
  readonly endedAt: number | undefined;
}

/** The message of `redline:child-process:queue`. */
export interface QueueMessage {
  readonly process: ChildProcess;
  readonly queuedAt: number;
}

/** The message of `redline:child-process:start`. */
export interface StartMessage extends ChildTimes {
  readonly process: ChildProcess;
}

/** The message of `redline:child-process:end`, also for a program that could not be started: `startedAt` is then undefined. */
export interface EndMessage extends ChildTimes {
  readonly process: ChildProcess;
  readonly resourceUsage: ChildResourceUsage | undefined;
}

/** The message of `redline:child-process:usage`. */
export interface UsageMessage {
  /** The name given in the call; `(others)` from the 257th program on. */
  readonly program: string;
  readonly process: ChildProcess;
  readonly resourceUsage: ChildResourceUsage;
  /** Values of all children of that program since the first subscriber, including this one. 0 is recorded as 1. */
  readonly histograms: Readonly<Record<keyof ChildResourceUsage, RecordableHistogram>>;
}

/** Returns the bits of the measurements that subscribers need. */
export function monitoredBits(): number {
  return queue.hasSubscribers || start.hasSubscribers || end.hasSubscribers || usages.hasSubscribers
    ? TIMES | USAGE
    : 0;
}

export function publishQueued(process: unknown): void {
  if (queue.hasSubscribers) queue.publish({ process, queuedAt: performance.now() });
}

/** The engine's measurements of one child. */
export class Measured {
  readonly #queuedAt = performance.now();
  #figures: readonly number[] | undefined;

  /** Takes the bytes of a "measured" event. Returns true if the child has just started. */
  take(bytes: Buffer): boolean {
    // Doubles in native order, which is little-endian: the engine is for x64 and arm64.
    this.#figures = Array.from({ length: FIGURE.COUNT }, (_, index) =>
      bytes.readDoubleLE(index * 8),
    );
    return this.#figures[FIGURE.ENDED] === 0;
  }

  get usage(): ChildResourceUsage | undefined {
    return this.#figures && usageOf(this.#figures);
  }

  publishStart(process: unknown): void {
    if (start.hasSubscribers) start.publish({ process, ...this.#times() });
  }

  publishEnd(process: unknown, program: string): void {
    const resourceUsage = this.usage;
    if (end.hasSubscribers) end.publish({ process, resourceUsage, ...this.#times() });
    if (resourceUsage) publishUsage(process, program, resourceUsage);
  }

  #times(): ChildTimes {
    // A child that could not be started is finished before the engine's event arrives.
    if (this.#figures === undefined) {
      const none = { takenAt: undefined, startedAt: undefined };
      return { queuedAt: this.#queuedAt, ...none, endedAt: performance.now() };
    }
    const figures = this.#figures;
    // The engine's clock is that of `process.hrtime`.
    const ahead = performance.now() - Number(process.hrtime.bigint()) / 1e6;
    const at = (index: number): number | undefined => {
      const time = figures[index]!;
      return time === 0 ? undefined : time + ahead;
    };
    return {
      queuedAt: at(FIGURE.QUEUED)!,
      takenAt: at(FIGURE.TAKEN),
      startedAt: at(FIGURE.STARTED),
      endedAt: at(FIGURE.ENDED),
    };
  }
}

/** Publishes the resource usage of a child of `program` to subscribers. */
export function publishUsage(
  process: unknown,
  program: string,
  resourceUsage: ChildResourceUsage,
): void {
  if (!usages.hasSubscribers) return;
  const { name, histograms } = histogramsOf(program);
  for (const figure of figureNames) {
    const value = resourceUsage[figure];
    if (value !== undefined) histograms[figure].record(Math.max(1, Math.round(value)));
  }
  usages.publish({ program: name, process, resourceUsage, histograms });
}

/** Converts figures, indexed by `FIGURE`, to a usage; `undefined` if it is not known. */
export function usageOf(figures: readonly number[]): ChildResourceUsage | undefined {
  const userCPUTime = figures[FIGURE.USER_MICROS]!;
  if (userCPUTime < 0) return undefined;
  return {
    userCPUTime,
    systemCPUTime: figures[FIGURE.SYSTEM_MICROS]!,
    maxRSS: figures[FIGURE.PEAK_KIB] || undefined,
    voluntaryContextSwitches: figures[FIGURE.VOLUNTARY]!,
    involuntaryContextSwitches: figures[FIGURE.INVOLUNTARY]!,
  };
}

const figureNames = [
  'userCPUTime',
  'systemCPUTime',
  'maxRSS',
  'voluntaryContextSwitches',
  'involuntaryContextSwitches',
] as const satisfies (keyof ChildResourceUsage)[];

type Histograms = UsageMessage['histograms'];

const PROGRAMS = 256;
const OTHERS = '(others)';
const byProgram = new Map<string, Histograms>();

function histogramsOf(program: string): { name: string; histograms: Histograms } {
  const name = byProgram.has(program) || byProgram.size < PROGRAMS ? program : OTHERS;
  let histograms = byProgram.get(name);
  if (histograms === undefined) {
    const entries = figureNames.map((figure) => [figure, perfHooks.createHistogram()]);
    histograms = Object.fromEntries(entries) as Histograms;
    byProgram.set(name, histograms);
  }
  return { name, histograms };
}
