/** Why jobs of a sink wait, where it is not that their batch gathers. */
export const waitReasons = [
  /** The sink says that it has no connection. */
  'unavailable',
  /** Sends failed, and the next one waits for its time. */
  'outage',
  /** Jobs left by exited processes are read first. */
  'orphans',
  /** A job that may have ended a process runs alone. */
  'suspect',
  /** The lane is ordered, and its first job waits for its next try. */
  'ordered',
  'rate',
  /** As many batches are on their way as may be. */
  'in-flight',
  /** Each job is behind another of its key. */
  'key',
  /** All that is left has failed, and waits for its next try. */
  'retry',
  /** Files of the journal cannot be read for now. */
  'unreadable',
] as const;
export type WaitReason = (typeof waitReasons)[number];

export interface Waiting {
  readonly reason: WaitReason;
  /** In words, with the last error where there was one. */
  readonly sentence: string;
  /** Wall clock of the next try, where it is known. */
  readonly untilMs?: number;
}
