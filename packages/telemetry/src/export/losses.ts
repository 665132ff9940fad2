import { isMainThread } from 'node:worker_threads';
import { diag } from '@opentelemetry/api';
import type { Collector } from '../native/addon.ts';

/** Returns a function that reports what was lost since its last call. The counts are of all threads, so one reports them. */
export function lossReporter(collector: Pick<Collector, 'counts'>): () => void {
  if (!isMainThread) return () => {};
  let last = { droppedSpans: 0, lostRecords: 0 };
  return () => {
    const counts = collector.counts();
    const dropped = counts.droppedSpans - last.droppedSpans;
    const lost = counts.lostRecords - last.lostRecords;
    last = counts;
    if (dropped > 0) {
      diag.warn(`@redline/telemetry: ${dropped} spans were dropped: too many wait to be sent`);
    }
    if (lost > 0) {
      const records = lost === 1 ? '1 record of spans was' : `${lost} records of spans were`;
      diag.warn(
        `@redline/telemetry: ${records} lost: larger than 256 KiB, or more than its thread could read in time`,
      );
    }
  };
}
