import type { OutboxJob } from '../outbox.ts';

/** The columns of a job, in the order of `valuesOf`. */
export const jobColumns: readonly string[] = [
  'id',
  'sink',
  'job',
  'key',
  'data',
  'deferred_at_ms',
  'context',
  'options',
];

export interface JobRow {
  /** A whole number, as the driver reads it. */
  readonly position: string | number | bigint;
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | null;
  readonly data: string;
  readonly deferred_at_ms: string | number | bigint;
  readonly context: string | null;
  readonly options: string | null;
}

export function valuesOf(job: OutboxJob): (string | number | null)[] {
  return [
    job.id,
    job.sink,
    job.job,
    job.key ?? null,
    job.json,
    job.deferredAtMs,
    job.context === undefined ? null : JSON.stringify(job.context),
    job.options === undefined ? null : JSON.stringify(job.options),
  ];
}

export function jobOf(row: JobRow): OutboxJob {
  return {
    id: row.id,
    sink: row.sink,
    job: row.job,
    key: row.key ?? undefined,
    json: row.data,
    deferredAtMs: Number(row.deferred_at_ms),
    context: row.context === null ? undefined : JSON.parse(row.context),
    options: row.options === null ? undefined : JSON.parse(row.options),
  };
}
