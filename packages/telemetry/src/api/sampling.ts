import { TraceFlags } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { SpanIdentity } from './span-identity.ts';
import type { TraceId } from './trace-id.ts';

/** A sampler of the user's, or the one that the environment chooses, which the thread in Rust computes too. */
export type Sampling = HeadSampling | Sampler;

/** Decisions of a sampler: those of `SamplingDecision`, whose package is loaded by nothing else here. */
export const NOT_RECORD = 0;
export const RECORD_AND_SAMPLED = 2;

export interface HeadSamplingOptions {
  /** The share of the traces that begin here and are sampled: 1 for all, 0 for none. */
  readonly ratio: number;
  /** True if a span is sampled as its parent is. */
  readonly isParentBased: boolean;
}

/** Decides by the trace id, as `TraceIdRatioBasedSampler` and `ParentBasedSampler` do. */
export class HeadSampling {
  /** Trace ids whose words have an exclusive or below it are sampled. */
  readonly #bound: number;
  readonly #isParentBased: boolean;

  constructor({ ratio, isParentBased }: HeadSamplingOptions) {
    const share = Math.min(1, Math.max(0, ratio || 0));
    this.#bound = share === 1 ? 2 ** 32 : Math.floor(share * 0xffff_ffff);
    this.#isParentBased = isParentBased;
  }

  /** Returns the trace flags of a new span. */
  flagsOf(trace: TraceId, parent: SpanIdentity | undefined): number {
    if (this.#isParentBased && parent !== undefined) return parent.flags & TraceFlags.SAMPLED;
    const word = (trace.first ^ trace.second ^ trace.third ^ trace.fourth) >>> 0;
    return word < this.#bound ? TraceFlags.SAMPLED : TraceFlags.NONE;
  }
}
