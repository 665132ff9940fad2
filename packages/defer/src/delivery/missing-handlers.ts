import type { Clock } from '../clock.ts';
import { dead, untried, type DeliveryResult } from '../sink.ts';

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

  /** Returns the current result of a job of this name. `sentence` says what is missing. */
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
