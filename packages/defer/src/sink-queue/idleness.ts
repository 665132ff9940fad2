/** Lets callers wait until nothing is left to do. */
export class Idleness {
  readonly #isIdle: () => boolean;
  #waiting: (() => void)[] = [];

  constructor(isIdle: () => boolean) {
    this.#isIdle = isIdle;
  }

  /** Resolves when nothing is left, or `signal` aborts. */
  async reached(signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve: abort } = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => abort(), { once: true });
    while (!this.#isIdle() && !signal.aborted) {
      await Promise.race([
        aborted,
        new Promise<void>((resolve) => void this.#waiting.push(resolve)),
      ]);
    }
  }

  /** Must be called after each change that may have been the last. */
  look(): void {
    if (this.#waiting.length === 0 || !this.#isIdle()) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
