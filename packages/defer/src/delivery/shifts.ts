import type { Clock } from '../clock.ts';
import { abortable, type Abortable } from './until-aborted.ts';

/** Jobs that began at about the same time, and have the same time to end. */
export interface Shift {
  readonly signal: AbortSignal;
  readonly inTime: Abortable;
}

/** A job may have a little more than its time, so that many share a signal and a timer: one of each costs 10 µs. */
const sharesPerLimit = 32;

/** Gives each job its own time, from its own beginning. */
export class Shifts {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #reason: () => Error;
  readonly #open = new Set<AbortController>();
  #current: { readonly shift: Shift; readonly endMs: number } | undefined;

  constructor(clock: Clock, limitMs: number, reason: () => Error) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#reason = reason;
  }

  /** For a job that begins now. */
  current(): Shift {
    const now = this.#clock.now();
    if (this.#current === undefined || now >= this.#current.endMs) {
      const lengthMs = this.#limitMs / sharesPerLimit;
      this.#current = { shift: this.#begin(this.#limitMs + lengthMs), endMs: now + lengthMs };
    }
    return this.#current.shift;
  }

  /** Ends all that run. */
  abort(reason: unknown): void {
    this.#current = undefined;
    for (const controller of this.#open) controller.abort(reason);
    this.#open.clear();
  }

  #begin(ms: number): Shift {
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
