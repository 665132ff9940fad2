import type { OtlpSender } from './otlp-sender.ts';

/** Sends what a source has, one batch at a time, in its order. */
export class Batches {
  readonly #sender: OtlpSender;
  readonly #take: () => Uint8Array | null | Promise<Uint8Array | null>;
  /** A batch that failed. */
  #kept: Uint8Array | null = null;
  #running: Promise<boolean> | undefined;
  /** True if what came after the start of the run has to be sent, too. */
  #isAskedAgain = false;

  constructor(sender: OtlpSender, take: () => Uint8Array | null | Promise<Uint8Array | null>) {
    this.#sender = sender;
    this.#take = take;
  }

  /** True if a batch failed and is kept. */
  get hasKept(): boolean {
    return this.#kept !== null;
  }

  /** Sends until nothing is left, or until a batch fails: it is kept for the next call. Returns false then. */
  send(): Promise<boolean> {
    if (this.#running !== undefined) {
      this.#isAskedAgain = true;
      return this.#running;
    }
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<boolean> {
    do {
      this.#isAskedAgain = false;
      for (;;) {
        const batch = this.#kept ?? (await this.#take());
        if (batch === null) break;
        this.#kept = batch;
        if ((await this.#sender.send(batch)) === 'failed') return false;
        this.#kept = null;
      }
    } while (this.#isAskedAgain);
    return true;
  }
}
