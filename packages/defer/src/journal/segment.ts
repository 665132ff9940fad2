import type { Sealing } from '../seal/sealing.ts';

/** State of a job in the journal, in the order of its life; a replay goes back from sent to waiting. */
export const jobStates = {
  /** No such job: its frame was damaged, or was never written. */
  absent: 0,
  /** Only on disk. */
  waiting: 1,
  /** On disk, and in the memory of its queue. */
  loaded: 2,
  /** The sink has it, but may come back without it. */
  sent: 3,
  done: 4,
} as const;
export type JobState = (typeof jobStates)[keyof typeof jobStates];

const stateBits = 3;
const stateMask = (1 << stateBits) - 1;
/** As many as 16 bits hold besides the state. */
export const maxSinksOfAJournal: number = 1 << (16 - stateBits);

export function segmentName(number: number): string {
  return `${String(number).padStart(8, '0')}.seg`;
}

/** One file of a journal, and the state of each of its jobs: two bytes for a job. */
export class Segment {
  readonly number: number;
  readonly salt: number;
  readonly openedAtMs: number;
  /** Bytes that `write` has taken; nothing after them is read. */
  bytes = 0;
  /** Number of the first job; -1 without jobs. */
  firstJob = -1;
  /** Number of jobs up to the last one, including absent ones. */
  length = 0;
  readonly #counts = [0, 0, 0, 0, 0];
  #states = new Uint16Array(256);
  lastSentAtMs = 0;
  /** Undefined if its jobs are in clear, or no copy of the note about their key can be read. */
  sealing: Sealing | undefined;

  constructor(number: number, salt: number, openedAtMs: number) {
    this.number = number;
    this.salt = salt;
    this.openedAtMs = openedAtMs;
  }

  count(state: JobState): number {
    return this.#counts[state]!;
  }

  countOf(state: JobState, sink: number): number {
    if (this.#counts[state] === 0) return 0;
    const wanted = (sink << stateBits) | state;
    let count = 0;
    for (let at = 0; at < this.length; at++) if (this.#states[at] === wanted) count++;
    return count;
  }

  get unfinished(): number {
    const { waiting, loaded, sent } = jobStates;
    return this.#counts[waiting]! + this.#counts[loaded]! + this.#counts[sent]!;
  }

  /** True if a job of such a sink is not done. */
  hasUnfinished(isMeant: (sink: number) => boolean): boolean {
    if (this.unfinished === 0) return false;
    const { waiting, sent } = jobStates;
    for (let at = 0; at < this.length; at++) {
      const word = this.#states[at]!;
      const state = word & stateMask;
      if (state >= waiting && state <= sent && isMeant(word >>> stateBits)) return true;
    }
    return false;
  }

  stateOf(job: number): JobState {
    const at = job - this.firstJob;
    if (this.firstJob < 0 || at < 0 || at >= this.length) return jobStates.absent;
    return (this.#states[at]! & stateMask) as JobState;
  }

  sinkOf(job: number): number {
    return this.#states[job - this.firstJob]! >>> stateBits;
  }

  /** Adds a job. Jobs come in the order of their numbers, possibly with gaps. */
  add(job: number, sink: number, state: JobState): void {
    if (this.firstJob < 0) this.firstJob = job;
    const at = job - this.firstJob;
    if (at >= this.#states.length) this.#grow(at + 1);
    this.#states[at] = (sink << stateBits) | state;
    this.#counts[state]!++;
    this.length = at + 1;
  }

  set(job: number, state: JobState): void {
    const at = job - this.firstJob;
    const word = this.#states[at]!;
    this.#counts[word & stateMask]!--;
    this.#counts[state]!++;
    this.#states[at] = (word & ~stateMask) | state;
  }

  /** Moves every job in `from` for which `isMeant` is true to `to`, and returns their number. */
  move(from: JobState, to: JobState, isMeant: (job: number, sink: number) => boolean): number {
    if (this.#counts[from] === 0) return 0;
    let moved = 0;
    for (let at = 0; at < this.length; at++) {
      const word = this.#states[at]!;
      const job = this.firstJob + at;
      if ((word & stateMask) !== from || !isMeant(job, word >>> stateBits)) continue;
      this.set(job, to);
      moved++;
    }
    return moved;
  }

  /** True if every job in `state` is of this sink. */
  everyOneIs(state: JobState, sink: number): boolean {
    for (let at = 0; at < this.length; at++) {
      const word = this.#states[at]!;
      if ((word & stateMask) === state && word >>> stateBits !== sink) return false;
    }
    return true;
  }

  #grow(length: number): void {
    const states = new Uint16Array(Math.max(length, this.#states.length * 2));
    states.set(this.#states);
    this.#states = states;
  }
}
