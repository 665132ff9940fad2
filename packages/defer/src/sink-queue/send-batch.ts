import { inspect } from 'node:util';
import type { Clock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import { OwnWork } from '../job/own-work.ts';
import type { PendingJob } from './pending-job.ts';
import { isResult, type DeliveryResult } from '../sink.ts';
import type { ResolvedQueue } from './lane-options.ts';

/** Outcome of a batch: a result for each job, the same for all, or a sink that is unavailable. */
export type BatchOutcome =
  | { failure?: undefined; results: readonly DeliveryResult[] | undefined }
  | { failure: { error: unknown } };

/** Sends a batch until `sendTimeoutMs` is up or `abort` aborts, even if the sink ignores its signal. */
export async function sendBatch(
  { name, sink, sendTimeoutMs }: ResolvedQueue,
  batch: readonly PendingJob[],
  clock: Clock,
  abort: AbortController,
): Promise<BatchOutcome> {
  const giveUp = (): void => {
    const sentence = `The sink ${name} did not respond within ${sendTimeoutMs} ms.`;
    abort.abort(new DeferError('ERR_REDLINE_DEFER_TIMEOUT', sentence));
  };
  const timer = sink.timesJobs === true ? undefined : clock.after(sendTimeoutMs, giveUp, true);
  try {
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    // One turn later: a sink that heeds its signal reports itself which of the jobs are done.
    const giveUpOnSink = (): void => void setImmediate(reject, abort.signal.reason);
    abort.signal.addEventListener('abort', giveUpOnSink, { once: true });
    const own = new OwnWork();
    const sent = Promise.resolve(own.run(() => sink.send(batch, abort.signal)));
    sent.then(own.over, own.over);
    const results = await Promise.race([sent, aborted]);
    if (results !== undefined && results.length !== batch.length) {
      throw new Error(`${sink.kind} returned ${results.length} results for ${batch.length} jobs`);
    }
    const strange = results?.find((result) => !isResult(result));
    if (strange !== undefined) {
      throw new Error(
        `${sink.kind} returned ${inspect(strange)} for a job: a result is undefined or made by retry(), untried() or dead()`,
      );
    }
    return { results: results ?? undefined };
  } catch (error) {
    return { failure: { error } };
  } finally {
    timer?.cancel();
  }
}
