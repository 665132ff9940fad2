/** Reasons why jobs of a sink wait, unless their batch is gathering. */
export const waitReasons = [
  /** The sink reports that it has no connection. */
  'unavailable',
  /** Sends failed, and the next one is scheduled. */
  'outage',
  /** Jobs left by exited processes are read first. */
  'orphans',
  /** A job that may have ended a process runs alone. */
  'suspect',
  /** The queue is ordered, and its first job waits for its next attempt. */
  'ordered',
  'rate',
  /** The maximum number of batches is being sent. */
  'in-flight',
  /** Each job waits for another with its key. */
  'key',
  /** All remaining jobs have failed and wait for their next attempt. */
  'retry',
  /** Files of the journal are currently unreadable. */
  'unreadable',
] as const;
export type WaitReason = (typeof waitReasons)[number];

export interface Waiting {
  readonly reason: WaitReason;
  /** In words, with the last error if there was one. */
  readonly sentence: string;
  /** Wall clock of the next attempt, if known. */
  readonly untilMs?: number;
}
