import type { Clock } from '../clock.ts';
import { dead, untried, type DeliveryResult } from '../sink.ts';

const waitMs = 600_000;
const askAgainMs = 5_000;

/**
 * Jobs of a process that is gone, for which there is no handler here. While one version of an app takes the place of
 * another, the one that has the handler takes them over when this one ends, or the deployment is taken back. So they wait
 * for as long as that takes, and are dead letters when they still cannot be done.
 */
export class MissingHandlers {
  readonly #clock: Clock;
  readonly #tell: (message: string) => void;
  /** Since when. */
  readonly #jobs = new Map<string, number>();

  constructor(clock: Clock, tell: (message: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** What becomes of a job of this name now. `sentence` says what is missing. */
  verdict(job: string, sentence: string): DeliveryResult {
    const now = this.#clock.now();
    let sinceMs = this.#jobs.get(job);
    if (sinceMs === undefined) {
      sinceMs = now;
      this.#jobs.set(job, now);
      this.#tell(
        `${sentence}; such jobs of another process wait ${waitMs / 60_000} minutes for a version of the app that has one.`,
      );
    }
    const error = new Error(`${sentence}.`);
    return now - sinceMs < waitMs ? untried(error, askAgainMs) : dead(error);
  }
}
