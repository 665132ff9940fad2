import { inspect } from 'node:util';
import type { Clock } from '../clock.ts';
import { DeferError } from '../errors.ts';
import { OwnWork } from '../job/own-work.ts';
import type { PendingJob } from './pending-job.ts';
import { isResult, type DeliveryResult } from '../sink.ts';
import type { ResolvedLane } from './lane-options.ts';

/** What became of a batch: a result for each job, or of all the same, or no sink that would say. */
export type BatchOutcome =
  | { failure?: undefined; results: readonly DeliveryResult[] | undefined }
  | { failure: { error: unknown } };

/** Sends, for `sendTimeoutMs` at most and until `abort` does, whatever the sink thinks of its signal. */
export async function sendBatch(
  { name, sink, sendTimeoutMs }: ResolvedLane,
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
    // A turn later: a sink that heeds its signal says itself which of the jobs are done.
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
