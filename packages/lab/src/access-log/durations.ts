import { quantileOfSorted } from '../stats/order-statistics.ts';

/** Up to this count every duration is kept and quantiles are exact. */
const maxExact = 1_000;
/** Bucket bounds differ by 1 %, so a quantile is within 0.5 %. */
const base = Math.log(1.01);
/** Everything below a nanosecond shares one bucket. */
const minMs = 1e-6;

/** The durations of a route in bounded memory: exact while they are few, then in buckets of 1 %. */
export class Durations {
  count = 0;
  totalMs = 0;
  #exact: number[] | undefined = [];
  #buckets: Map<number, number> | undefined;

  add(durationMs: number): void {
    this.count++;
    this.totalMs += durationMs;
    if (this.#exact === undefined) return this.#put(durationMs, 1);
    this.#exact.push(durationMs);
    if (this.#exact.length > maxExact) this.#toBuckets();
  }

  merge(other: Durations): void {
    this.count += other.count;
    this.totalMs += other.totalMs;
    if (this.#exact !== undefined && other.#exact !== undefined) {
      this.#exact.push(...other.#exact);
      if (this.#exact.length > maxExact) this.#toBuckets();
      return;
    }
    this.#toBuckets();
    for (const durationMs of other.#exact ?? []) this.#put(durationMs, 1);
    for (const [bucket, count] of other.#buckets ?? []) {
      this.#buckets!.set(bucket, (this.#buckets!.get(bucket) ?? 0) + count);
    }
  }

  /** @param shares Ascending, 0 to 1; at least one duration must have been added. */
  quantiles(...shares: number[]): number[] {
    if (this.#exact !== undefined) {
      const sorted = this.#exact.toSorted((a, b) => a - b);
      return shares.map((share) => quantileOfSorted(sorted, share));
    }
    const sorted = [...this.#buckets!].toSorted(([a], [b]) => a - b);
    return shares.map((share) => {
      const rank = share * (this.count - 1);
      let before = 0;
      for (const [bucket, count] of sorted) {
        before += count;
        if (before > rank) return middleOf(bucket);
      }
      return middleOf(sorted.at(-1)![0]);
    });
  }

  #toBuckets(): void {
    if (this.#exact === undefined) return;
    this.#buckets = new Map();
    for (const durationMs of this.#exact) this.#put(durationMs, 1);
    this.#exact = undefined;
  }

  #put(durationMs: number, count: number): void {
    const bucket = durationMs < minMs ? -1 : Math.floor(Math.log(durationMs / minMs) / base);
    this.#buckets!.set(bucket, (this.#buckets!.get(bucket) ?? 0) + count);
  }
}

function middleOf(bucket: number): number {
  return bucket < 0 ? 0 : minMs * Math.exp((bucket + 0.5) * base);
}
