import type { Clock } from '../clock.ts';
import { abortable, type Abortable } from './until-aborted.ts';

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
