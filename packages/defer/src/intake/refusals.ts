import { DeferError, levelError } from '../errors.ts';
import type { Level } from '../job/job.ts';
import type { PendingJob } from '../sink-queue/pending-job.ts';
import type { SinkQueue } from '../sink-queue/sink-queue.ts';
import { listSinks } from '../options.ts';

export function unknownJob(given: unknown): DeferError {
  const shown = typeof given === 'string' ? `"${given}"` : `a value of type ${typeof given}`;
  return new DeferError(
    'ERR_REDLINE_DEFER_UNKNOWN_JOB',
    typeof given === 'function'
      ? 'A closure is not a job: use defer.after(work), which keeps it in memory, or make it a job with defineJob().'
      : `A job is made by defineJob(); got ${shown}.`,
  );
}

export function closedError(): DeferError {
  return new DeferError('ERR_REDLINE_DEFER_CLOSED', 'The deferrer is closed.');
}

export function withdrawn(): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_WITHDRAWN',
    'The outcome of the request is not the one that the job waits for.',
  );
}

export function unknownSink(
  name: string | undefined,
  queues: ReadonlyMap<string, unknown>,
): DeferError {
  const known = listSinks(queues);
  return new DeferError(
    'ERR_REDLINE_DEFER_UNKNOWN_SINK',
    name === undefined
      ? `The job names no sink, and createDefer has no option sink. Configured: ${known}.`
      : `Unknown sink "${name}". Configured: ${known}.`,
  );
}

export function refused(job: string, sink: string, reason: string): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_REFUSED',
    `The sink ${sink} cannot take the job ${job}: ${reason}`,
  );
}

export function closureAbove(level: Level): DeferError {
  return levelError(
    `A closure cannot be kept at the level ${level}: only memory holds it. Make it a job.`,
  );
}

export function neverWaits(level: Level): DeferError {
  return levelError(
    `A job of level ${level} does not wait here, so that another could take its place: onDuplicate needs the level memory, process or disk.`,
  );
}

export function queueFull(queue: SinkQueue): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_FULL',
    `The sink ${queue.name} has ${queue.depth} pending jobs and takes no more (maxPending, maxPendingBytes).`,
  );
}

export function notInTime({ id, job, level }: PendingJob, limitMs: number): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    `The job ${id} (${job}) did not reach the level ${level} within ${limitMs} ms.`,
  );
}

export function rolledBack({ id, job }: PendingJob): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    `The transaction of the job ${id} (${job}) was rolled back, and the job with it; the response claimed success.`,
  );
}

export function notCommitted({ id, job }: PendingJob, limitMs: number): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_NOT_ACKNOWLEDGED',
    `The transaction of the job ${id} (${job}) did not end within ${limitMs} ms, and the response waits for its commit: commit before the response, not when that has finished.`,
  );
}

/** Call site of a job whose request is unknown. */
export type UnattributedPlace = 'outside' | 'answered';

const places: Readonly<Record<UnattributedPlace, string>> = {
  outside: 'outside of every request while requests are open',
  answered: 'in the context of a request that shares it with others, or has its response',
};

/** Returns a warning, and an error with the stack of the call. */
export function unattributedWarning(
  { job, level }: PendingJob,
  where: UnattributedPlace,
): [string, Error] {
  return [
    `defer: a job (${job}) was deferred ${places[where]}: in a callback of a shared connection, a queue, a timer. It is kept whatever becomes of them, and each open response waits for its level, ${level}. Name its request, defer(job, data, { request }), or none, { request: null }. Further ones are only counted (stats().unattributed).`,
    new Error(`The job ${job} was deferred here.`),
  ];
}

export function tooLate({ job, level }: PendingJob): DeferError {
  return new DeferError(
    'ERR_REDLINE_DEFER_TOO_LATE',
    `The job ${job} was deferred while the last bytes of its response leave, or have left, which cannot wait for the level ${level} any more. Defer before the last part of the body is written, and install expressDefer (fastifyDefer, DeferModule) before what wraps response.end().`,
  );
}
