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

/** A source of encoded ExportMetricsServiceRequests; `null` if it has nothing. */
export type MetricsSource = () => Uint8Array | null | Promise<Uint8Array | null>;

/** Sends the metrics of several sources as one request. */
export class MetricsExport {
  readonly #batches: Batches;
  #isDue = false;

  constructor(sender: OtlpSender, sources: readonly MetricsSource[]) {
    this.#batches = new Batches(sender, async () => {
      if (!this.#isDue) return null;
      this.#isDue = false;
      const parts = await Promise.all(sources.map((source) => source()));
      // A protobuf message followed by another is the two merged: their lists are joined.
      const whole = Buffer.concat(parts.filter((part) => part !== null));
      return whole.length === 0 ? null : whole;
    });
  }

  /** Sends the metrics as they are now, after those that failed before. */
  send(): Promise<boolean> {
    this.#isDue = true;
    return this.#batches.send();
  }
}
