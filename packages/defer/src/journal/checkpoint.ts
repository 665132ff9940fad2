import { crc32 } from 'node:zlib';
import type { KeptTries } from './tries.ts';
import { jobStates, type JobState, type Segment } from './segment.ts';

/** State of every job of a journal, so that marks in removed segments are not missed. */
export interface Checkpoint {
  /** Marks at or after this place of the log are not included yet. */
  readonly segment: number;
  readonly offset: number;
  /** Last lifetime of each sink's server that acknowledged something. */
  readonly generations: Readonly<Record<string, string>>;
  readonly segments: readonly CheckpointedSegment[];
  readonly tries?: KeptTries;
}

export interface CheckpointedSegment {
  readonly number: number;
  readonly firstJob: number;
  /** Run lengths: `state*count`, or `state` alone, in the order of the jobs. */
  readonly states: string;
}

/* One line of JSON after its checksum. */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const json = JSON.stringify({ version: 1, ...checkpoint });
  return frame(json);
}

function frame(json: string): string {
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** Returns undefined if the text is not what was written. */
export function decodeCheckpoint(text: string): Checkpoint | undefined {
  const json = text.slice(9, -1);
  if (text !== frame(json)) return undefined;
  return JSON.parse(json);
}

export function encodeStates(segment: Segment): CheckpointedSegment {
  const runs: string[] = [];
  let state: JobState | undefined;
  let count = 0;
  const end = (): void => {
    if (count > 0) runs.push(count === 1 ? String(state) : `${state}*${count}`);
  };
  for (let at = 0; at < segment.length; at++) {
    const each = segment.stateOf(segment.firstJob + at);
    // A job in memory is only on disk as soon as the process is gone.
    const kept = each === jobStates.loaded ? jobStates.waiting : each;
    if (kept === state) {
      count++;
    } else {
      end();
      state = kept;
      count = 1;
    }
  }
  end();
  return { number: segment.number, firstJob: segment.firstJob, states: runs.join(' ') };
}

/** Yields the jobs that are sent or done; the others need no mark. */
export function* decodeStates({
  firstJob,
  states,
}: CheckpointedSegment): Generator<[job: number, state: JobState]> {
  let job = firstJob;
  for (const run of states.split(' ')) {
    const [state, count = 1] = run.split('*').map(Number);
    for (let left = count; left > 0; left--, job++) {
      if (state === jobStates.sent || state === jobStates.done) yield [job, state];
    }
  }
}
