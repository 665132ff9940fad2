import type { Delivery } from './sink.ts';

/**
 * Handles one job. If it throws, the job is retried; an error with `retryable: false` makes it a dead letter at once. It
 * has `sendTimeoutMs` from its own start; then the signal aborts, and the job is retried.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- the data is what the job's definition says
export type Handler = (data: any, delivery: Delivery, signal: AbortSignal) => unknown;
