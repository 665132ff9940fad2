// What programs can watch of the engine, on channels of node:diagnostics_channel. Without subscribers a spawn asks four times
// whether there is one, and the engine measures nothing.
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

/** When what happened, in milliseconds as `performance.now()` counts them. */
export interface ChildTimes {
  /** The call of `spawn`, `exec`, `execFile` or `fork`. */
  readonly queuedAt: number;
  /** A thread of the engine began with it; `undefined` for a child that the engine has refused. */
  readonly takenAt: number | undefined;
  /** The program ran; `undefined` for one that could not be started. */
  readonly startedAt: number | undefined;
  /** The engine knew of the end; `undefined` until then. */
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

/** The message of `redline:child-process:end`, also for a program that could not be started: `startedAt` is undefined then. */
export interface EndMessage extends ChildTimes {
  readonly process: ChildProcess;
  readonly resourceUsage: ChildResourceUsage | undefined;
}

/** The message of `redline:child-process:usage`. */
export interface UsageMessage {
  /** As the call named it; `(others)` for all from the 257th on. */
  readonly program: string;
  readonly process: ChildProcess;
  readonly resourceUsage: ChildResourceUsage;
  /** Of all children of that program since the first subscriber, this one included. What is 0 is recorded as 1. */
  readonly histograms: Readonly<Record<keyof ChildResourceUsage, RecordableHistogram>>;
}

/** What the engine has to measure for those who watch. */
export function monitoredBits(): number {
  return queue.hasSubscribers || start.hasSubscribers || end.hasSubscribers || usages.hasSubscribers
    ? TIMES | USAGE
    : 0;
}

export function publishQueued(process: unknown): void {
  if (queue.hasSubscribers) queue.publish({ process, queuedAt: performance.now() });
}

/** What the engine has measured of one child. */
export class Measured {
  readonly #queuedAt = performance.now();
  #figures: readonly number[] | undefined;

  /** Takes the bytes of a "measured" event. Whether the child has just started. */
  take(bytes: Buffer): boolean {
    // Doubles of this machine, which is little-endian: the engine is for x64 and arm64.
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
    // A child that could not be started is over before the engine's event comes.
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

/** Publishes what a child of `program` has used, to those who watch. */
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

/** The figures of a use, as they are in `FIGURE`; `undefined` where it is not known. */
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
