// The limits of handlers that run in this process: context and time of one, and kinds that hang or have no handler here.
import { isPromise } from '../validate.ts';
import { OwnWork } from '../job/async-context.ts';
import { type Delivery, type SinkHost, dead, untried, type DeliveryResult } from '../sink.ts';
import { type Abortable, abortable } from './until-aborted.ts';
import type { Clock } from '../clock.ts';

/**
 * Runs one job in its context, and in a span if spans are enabled, until it ends or its time is up. Returns a promise if
 * the job does.
 */
export function runHere(
  { name, spans }: Pick<SinkHost, 'name' | 'spans'>,
  delivery: Delivery,
  inTime: Abortable,
  work: () => unknown,
): Promise<unknown> | undefined {
  const own = new OwnWork();
  const ownWork = (): unknown => own.run(work);
  if (spans === undefined) return limited(delivery.run(ownWork), inTime, own);
  // Within the context of the request, which has the span's parent.
  return delivery.run(() => spans.process(name, [delivery], () => limited(ownWork(), inTime, own)));
}

function limited(outcome: unknown, inTime: Abortable, own: OwnWork): Promise<unknown> | undefined {
  if (!isPromise(outcome)) {
    own.over();
    return undefined;
  }
  const promise = Promise.resolve(outcome);
  promise.then(own.over, own.over);
  return inTime.race(promise);
}

/** The time limit shared by jobs that began at about the same time. */
export interface SharedTimeout {
  readonly signal: AbortSignal;
  readonly inTime: Abortable;
}

/** A job may have a little more than its time, so that many share a signal and a timer: one of each costs 10 µs. */
const sharesPerLimit = 32;

/** Gives each job its own time limit, from its own start. */
export class SharedTimeouts {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #reason: () => Error;
  readonly #open = new Set<AbortController>();
  #current: { readonly timeout: SharedTimeout; readonly endMs: number } | undefined;

  constructor(clock: Clock, limitMs: number, reason: () => Error) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#reason = reason;
  }

  /** Returns the timeout of a job that begins now. */
  current(): SharedTimeout {
    const now = this.#clock.now();
    if (this.#current === undefined || now >= this.#current.endMs) {
      const lengthMs = this.#limitMs / sharesPerLimit;
      this.#current = { timeout: this.#begin(this.#limitMs + lengthMs), endMs: now + lengthMs };
    }
    return this.#current.timeout;
  }

  /** Aborts all running jobs. */
  abort(reason: unknown): void {
    this.#current = undefined;
    for (const controller of this.#open) controller.abort(reason);
    this.#open.clear();
  }

  #begin(ms: number): SharedTimeout {
    const controller = new AbortController();
    this.#open.add(controller);
    this.#clock.after(
      ms,
      () => {
        this.#open.delete(controller);
        controller.abort(this.#reason());
      },
      false,
    );
    return { signal: controller.signal, inTime: abortable(controller.signal) };
  }
}

const minMs = 1_000;
const maxMs = 30_000;

/** A job whose kind hangs is tried alone. */
export type Turn = 'with others' | 'alone';

/**
 * Kinds of job whose handlers do not end in time. Of all of them only one job runs at a time, so that hanging handlers do
 * not take every place; the others wait until one of their kind has ended in time.
 */
export class HangingKinds {
  readonly #clock: Clock;
  /** Time since which each kind hangs. */
  readonly #kinds = new Map<string, number>();
  #isOneTried = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the turn of a job of this kind, which `ended` must be called with, or how long it must wait for one in ms. */
  turn(kind: string): Turn | number {
    const sinceMs = this.#kinds.get(kind);
    if (sinceMs === undefined) return 'with others';
    if (this.#isOneTried) {
      // The longer it hangs, the less often all of them are checked.
      return Math.min(maxMs, Math.max(minMs, (this.#clock.now() - sinceMs) / 2));
    }
    this.#isOneTried = true;
    return 'alone';
  }

  /** Called when a job of this kind has ended, in time or not. Returns true if that changes the state of the kind. */
  ended(kind: string, turn: Turn, inTime: boolean): boolean {
    if (turn === 'alone') this.#isOneTried = false;
    if (inTime) return this.#kinds.delete(kind);
    if (this.#kinds.has(kind)) return false;
    this.#kinds.set(kind, this.#clock.now());
    return true;
  }
}

const waitMs = 600_000;
const askAgainMs = 5_000;

/**
 * Jobs of an exited process that have no handler here. While one version of an app replaces another, the version that has
 * the handler takes them over when this one ends, or the deployment is rolled back. So they wait for as long as that
 * takes, and become dead letters if they still cannot be done.
 */
export class MissingHandlers {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  /** Time since which the handler of each name has been missing. */
  readonly #jobs = new Map<string, number>();

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  verdict(job: string, sentence: string): DeliveryResult {
    const now = this.#clock.now();
    let sinceMs = this.#jobs.get(job);
    if (sinceMs === undefined) {
      sinceMs = now;
      this.#jobs.set(job, now);
      this.#warn(
        `${sentence}; such jobs of another process wait ${waitMs / 60_000} minutes for a version of the app that has one.`,
      );
    }
    const error = new Error(`${sentence}.`);
    return now - sinceMs < waitMs ? untried(error, askAgainMs) : dead(error);
  }
}
