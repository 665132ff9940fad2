import type { JobPlace, Journal } from '../journal/journal.ts';
import { jobStates } from '../journal/segment.ts';
import { levels, type Level, type OnDuplicate } from '../job/level.ts';
import type { Acknowledgement, PendingJob } from './pending-job.ts';

/** The part of a lane that knows where its jobs are. */
export interface KeyedLane {
  /** It is being sent. */
  isOnItsWay(job: PendingJob): boolean;
  /** A job in memory is obsolete: it is dropped when its turn has come, or at once where that may take long. */
  giveUpInMemory(job: PendingJob): void;
  /** A job on disk alone is not needed any more. */
  giveUp(place: JobPlace, job: string, isDelayed: boolean): void;
}

/** A job whose key is taken: the last one with it. */
interface Entry {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly level: Level;
  readonly runAtMs: number | undefined;
  readonly deferredAtMs: number;
  readonly onDuplicate: OnDuplicate;
  /** In memory. */
  pending: PendingJob | undefined;
  /** On disk alone. */
  place: JobPlace | undefined;
  isDelayed: boolean;
  /** The one whose place it takes as soon as its own level is reached. */
  before: Entry | undefined;
}

/** What identifies a job among those whose keys are taken. */
type Identified = Pick<PendingJob, 'sink' | 'job' | 'key'>;

/**
 * The jobs that were deferred with `onDuplicate`, by sink, name and key. The journal needs no word of its own for them: a
 * job that takes the place of another is written first, and the end of the other one is a mark. Whoever reads the journal
 * after a kill in between finds both, and has the newer one decide as it would have here.
 */
export class KeyedJobs {
  /** Some job had the option: until then no lane looks for obsolete ones. */
  isUsed = false;
  readonly #entries = new Map<string, Entry>();
  readonly #laneOf: (sink: string) => KeyedLane | undefined;

  constructor(laneOf: (sink: string) => KeyedLane | undefined) {
    this.#laneOf = laneOf;
  }

  /** A new job takes over what is promised for the one that waits: its level, and for `replace` its time. */
  prepare(job: PendingJob): void {
    const waiting = this.#waiting(job);
    if (waiting === undefined || job.onDuplicate === 'keep') return;
    if (isBelow(job, waiting)) job.level = waiting.level;
    if (job.onDuplicate === 'replace') job.runAtMs = waiting.runAtMs;
  }

  /** Tells `waiter` of the level of the job that stays in the place of this one. False if there is none. */
  tellOfKept(job: PendingJob, waiter: Acknowledgement): boolean {
    if (job.onDuplicate !== 'keep') return false;
    const waiting = this.#waiting(job);
    // What is not as safe as the new one was asked to be cannot stand for it.
    if (waiting === undefined || waiting.id === job.id || isBelow(waiting, job)) return false;
    if (waiting.pending === undefined) waiter.acknowledged(undefined);
    else waiting.pending.tell(waiter);
    return true;
  }

  /** The job is the last one of its key. The one before is obsolete as soon as the level of this one is reached. */
  enter(job: PendingJob): void {
    this.isUsed = true;
    const name = nameOf(job);
    const before = this.#entries.get(name);
    if (before?.id === job.id) return;
    const entry = entryOf(job);
    entry.pending = job;
    this.#entries.set(name, entry);
    // A job that is being sent does not wait; but one that is replaced is not tried again.
    if (before === undefined || isBelow(entry, before)) return;
    if (job.onDuplicate === 'keep' && this.#waits(before) === undefined) return;
    entry.before = before;
    job.tell({
      acknowledged: (error) => {
        if (entry.before === undefined) return;
        if (error === undefined) this.#giveUp(entry.before);
        // It is nowhere, and the one before waits as if nothing had been asked.
        else if (this.#entries.get(name) === entry && !this.#waits(entry)) {
          this.#entries.set(name, entry.before);
        }
        entry.before = undefined;
      },
    });
  }

  /** The job is on disk alone from now on. */
  putOnDisk(job: PendingJob, isDelayed: boolean): void {
    const entry = this.#entries.get(nameOf(job));
    if (entry?.id !== job.id) return;
    entry.pending = undefined;
    entry.place = job.place;
    entry.isDelayed = isDelayed;
  }

  /** A job that was read is put back to wait for its time. */
  delay(job: Identified & { readonly id: string }, place: JobPlace): void {
    const entry = this.#entries.get(nameOf(job));
    if (entry?.id !== job.id) return;
    entry.place = place;
    entry.isDelayed = true;
  }

  /** The job is in memory again. */
  loaded(job: PendingJob): void {
    const entry = this.#entries.get(nameOf(job));
    const { place } = job;
    if (place !== undefined && place.segment.stateOf(place.number) === jobStates.done) {
      // Given up while it was being read.
      job.isObsolete = true;
    } else if (entry === undefined) {
      this.enter(job);
    } else if (entry.id === job.id) {
      entry.pending = job;
      entry.place = undefined;
    }
  }

  /** The job is done, or gone. */
  left(job: PendingJob): void {
    const name = nameOf(job);
    if (this.#entries.get(name)?.id === job.id) this.#entries.delete(name);
  }

  /** Gives up the job that waits. Returns it as far as it is in memory, and its place; undefined if none waits. */
  cancel(
    wanted: Identified,
  ): { readonly job: PendingJob | undefined; readonly place: JobPlace | undefined } | undefined {
    const entry = this.#waiting(wanted);
    if (entry === undefined) return undefined;
    this.#entries.delete(nameOf(wanted));
    this.#giveUp(entry);
    const { pending: job } = entry;
    if (job === undefined) return { job, place: entry.place };
    // Nothing follows that a crash could be survived by: the mark is written now.
    job.place?.journal.done(job.place);
    return { job, place: job.place };
  }

  /** Those of a process that is gone. Their lanes do not have them yet. */
  adopt(journal: Journal): void {
    for (const { number, record } of journal.keyed) {
      const place = journal.waitingAt(number);
      if (place === undefined) continue;
      this.isUsed = true;
      const found: Entry = { ...entryOf(record), place };
      const known = this.#waiting(record);
      if (known === undefined) this.#entries.set(nameOf(record), found);
      else this.#settle(journal, nameOf(record), known, found);
    }
  }

  #settle(journal: Journal, name: string, known: Entry, found: Entry): void {
    const isNewer = found.deferredAtMs >= known.deferredAtMs;
    const decides = isNewer ? found : known;
    // Of two that were both acknowledged in the same moment one stays, or both.
    if (isNewer && decides.onDuplicate !== 'keep') {
      this.#giveUp(known);
      this.#entries.set(name, found);
    } else if (isNewer || (decides.onDuplicate !== 'keep' && known.level !== 'memory')) {
      journal.giveUpFound(found.place!, found);
    }
  }

  #waiting(job: Identified): Entry | undefined {
    const entry = this.#entries.get(nameOf(job));
    return entry && this.#waits(entry);
  }

  /* Undefined for a job that is being sent, or that its journal does not have any more. */
  #waits(entry: Entry): Entry | undefined {
    const { pending, place, sink } = entry;
    if (pending !== undefined) {
      return this.#laneOf(sink)?.isOnItsWay(pending) === true ? undefined : entry;
    }
    if (place === undefined || !place.journal.segments.includes(place.segment)) return undefined;
    const state = place.segment.stateOf(place.number);
    return state === jobStates.waiting || state === jobStates.loaded ? entry : undefined;
  }

  #giveUp(entry: Entry): void {
    for (let each: Entry | undefined = entry; each !== undefined; each = each.before) {
      const { pending, place, sink, job, isDelayed } = each;
      if (pending !== undefined) {
        pending.isObsolete = true;
        this.#laneOf(sink)?.giveUpInMemory(pending);
      } else if (place !== undefined) {
        this.#laneOf(sink)?.giveUp(place, job, isDelayed);
      }
    }
  }
}

function entryOf(job: {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly level?: Level;
  readonly runAtMs?: number | undefined;
  readonly deferredAtMs: number;
  readonly onDuplicate?: OnDuplicate | undefined;
}): Entry {
  return {
    id: job.id,
    sink: job.sink,
    job: job.job,
    level: job.level ?? 'process',
    runAtMs: job.runAtMs,
    deferredAtMs: job.deferredAtMs,
    onDuplicate: job.onDuplicate ?? 'keep',
    pending: undefined,
    place: undefined,
    isDelayed: false,
    before: undefined,
  };
}

function nameOf({ sink, job, key }: Identified): string {
  return JSON.stringify([sink, job, key]);
}

function isBelow(one: { readonly level: Level }, other: { readonly level: Level }): boolean {
  return levels.indexOf(one.level) < levels.indexOf(other.level);
}
