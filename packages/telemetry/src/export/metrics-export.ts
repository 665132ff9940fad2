import { Batches } from './batches.ts';
import type { OtlpSender } from './otlp-sender.ts';

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
