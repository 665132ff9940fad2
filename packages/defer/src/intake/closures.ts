import type { LaneOptions } from '../lane/lane-options.ts';
import type { PendingJob } from '../job/pending-job.ts';
import { dead, type Delivery, type DeliveryResult, type Sink } from '../sink.ts';

/** Runs what `defer.after` was given: each once, side by side. */
const closures: Sink = {
  kind: 'closures',
  runsHere: true,
  send: (batch: readonly Delivery[]) => Promise.all((batch as readonly PendingJob[]).map(run)),
};

export const closureLane: LaneOptions = {
  sink: closures,
  batch: { jobs: 100, waitMs: 0 },
  inFlight: 64,
  overflow: 'reject',
  // How long a closure takes is its own affair.
  sendTimeoutMs: Number.MAX_SAFE_INTEGER,
};

async function run(job: PendingJob): Promise<DeliveryResult> {
  try {
    await job.run(() => job.work!());
    return undefined;
  } catch (error) {
    return dead(error);
  }
}
