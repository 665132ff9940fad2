/** A token bucket: `jobs` within any `perMs`, and as many at once after a pause. */
export class RateLimit {
  readonly #jobs: number;
  readonly #perMs: number;
  #tokens: number;
  #atMs: number;

  constructor(jobs: number, perMs: number, now: number) {
    this.#jobs = jobs;
    this.#perMs = perMs;
    this.#tokens = jobs;
    this.#atMs = now;
  }

  /** Takes up to `wanted` jobs. Returns how many may be sent now. */
  take(wanted: number, now: number): number {
    this.#fill(now);
    const taken = Math.min(wanted, Math.floor(this.#tokens));
    this.#tokens -= taken;
    return taken;
  }

  giveBack(jobs: number): void {
    this.#tokens = Math.min(this.#jobs, this.#tokens + jobs);
  }

  /** Milliseconds until the next job may be sent. */
  waitMs(now: number): number {
    this.#fill(now);
    return this.#tokens >= 1 ? 0 : ((1 - this.#tokens) * this.#perMs) / this.#jobs;
  }

  #fill(now: number): void {
    this.#tokens = Math.min(
      this.#jobs,
      this.#tokens + ((now - this.#atMs) * this.#jobs) / this.#perMs,
    );
    this.#atMs = now;
  }
}
