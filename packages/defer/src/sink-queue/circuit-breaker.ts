/** Stops sends to an unavailable sink, and lets one batch at a time find out whether it is back. */
export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #backoff: Backoff;
  readonly #random: () => number;
  #failures = 0;
  #retryAtMs = 0;
  #isProbing = false;
  #isAvailable = true;
  #lastError: unknown;
  #openedAtMs = 0;

  constructor(failuresToOpen: number, backoff: Backoff, random: () => number) {
    this.#failuresToOpen = failuresToOpen;
    this.#backoff = backoff;
    this.#random = random;
  }

  get isOpen(): boolean {
    return !this.#isAvailable || this.#failures >= this.#failuresToOpen;
  }

  /** True unless the sink has reported a lost connection. */
  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  get isFailing(): boolean {
    return this.#failures > 0;
  }

  get lastError(): unknown {
    return this.#lastError;
  }

  /** Milliseconds until a batch may be sent; 0 for now; undefined until the probe or the sink itself decides. */
  waitMs(now: number): number | undefined {
    if (!this.#isAvailable) return undefined;
    if (this.#failures === 0) return 0;
    if (this.#failures >= this.#failuresToOpen && this.#isProbing) return undefined;
    return Math.max(0, this.#retryAtMs - now);
  }

  /** Called when a batch leaves. */
  began(): void {
    if (this.#failures >= this.#failuresToOpen) this.#isProbing = true;
  }

  /** Called when a batch has ended without a verdict on the sink. */
  ended(): void {
    this.#isProbing = false;
  }

  /** Returns how long the breaker was open, in milliseconds, if this closes it. */
  succeeded(now: number): number | undefined {
    const wasOpen = this.#failures >= this.#failuresToOpen;
    this.#failures = 0;
    this.#lastError = undefined;
    this.#isProbing = false;
    return wasOpen ? now - this.#openedAtMs : undefined;
  }

  /** Returns true if this opens the breaker. */
  failed(now: number, error: unknown): boolean {
    this.#lastError = error;
    this.#failures++;
    this.#isProbing = false;
    this.#retryAtMs = now + backoffMs(this.#backoff, this.#failures, this.#random);
    if (this.#failures !== this.#failuresToOpen) return false;
    this.#openedAtMs = now;
    return true;
  }

  /** Applies the sink's own report. Once it is available again, the next batch is sent at once. */
  setAvailable(isAvailable: boolean): void {
    this.#isAvailable = isAvailable;
    if (isAvailable) this.#retryAtMs = 0;
  }
}

/** A wait between `minMs` and `maxMs`, growing by the factor with each failure. */
export interface Backoff {
  readonly minMs: number;
  readonly maxMs: number;
  readonly factor: number;
}

/**
 * Returns the wait after the `failures`th failure in a row: random within the upper half of the step, so that jobs that
 * failed together do not come back together.
 */
export function backoffMs(
  { minMs, maxMs, factor }: Backoff,
  failures: number,
  random: () => number,
): number {
  const step = Math.min(maxMs, minMs * factor ** Math.min(failures - 1, 64));
  return step * (0.5 + random() / 2);
}
