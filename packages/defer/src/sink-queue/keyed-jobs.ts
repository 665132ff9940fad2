import type { KeyedRecord } from '../journal/job-record.ts';
import type { JobPlace, Journal } from '../journal/journal.ts';
import { jobStates } from '../journal/segment.ts';
import { levels, type Level, type OnDuplicate } from '../job/job.ts';
import type { AcknowledgementListener, PendingJob } from './pending-job.ts';

/** The part of a queue that knows the state of its jobs. */
export interface KeyedQueue {
  /** True while it is being sent. */
  isInFlight(job: PendingJob): boolean;
  /** Called when a job in memory is obsolete: it is dropped at its turn, or at once if that may take long. */
  giveUpInMemory(job: PendingJob): void;
  /** Called when a job that is only on disk is no longer needed. */
  giveUp(place: JobPlace, job: string, isDelayed: boolean): void;
}

/** The job that holds a key: the last one deferred with it. */
interface Entry {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly level: Level;
  readonly runAtMs: number | undefined;
  readonly deferredAtMs: number;
  readonly onDuplicate: OnDuplicate;
  /** Set while it is in memory. */
  pending: PendingJob | undefined;
  /** Set while it is only on disk. */
  place: JobPlace | undefined;
  isDelayed: boolean;
  /** The entry it replaces as soon as its own level is reached. */
  before: Entry | undefined;
}

/** The fields that identify a job. */
type Identified = Pick<PendingJob, 'sink' | 'job' | 'key'>;

/**
 * The jobs that were deferred with `onDuplicate`, by sink, name and key. The journal has no record of its own for
 * replacement: the new job is written first, and then the old one is marked as done. After a kill between the two, the next
 * process finds both, and the option of the newer one decides.
 */
export class KeyedJobs {
  /** True once some job had the option: until then no queue looks for obsolete ones. */
  isUsed = false;
  readonly #entries = new Map<string, Entry>();
  readonly #queueOf: (sink: string) => KeyedQueue | undefined;

  constructor(queueOf: (sink: string) => KeyedQueue | undefined) {
    this.#queueOf = queueOf;
  }

  /** Passes the promises of the waiting job on to a new one: its level, and for `replace` its time. */
  prepare(job: PendingJob): void {
    const waiting = this.#waiting(job);
    if (waiting === undefined || job.onDuplicate === 'keep') return;
    if (isBelow(job, waiting)) job.level = waiting.level;
    if (job.onDuplicate === 'replace') job.runAtMs = waiting.runAtMs;
  }

  /** Notifies `listener` of the level of the job that stays in place of this one. Returns false if no job does. */
  awaitKept(job: PendingJob, listener: AcknowledgementListener): boolean {
    if (job.onDuplicate !== 'keep') return false;
    const waiting = this.#waiting(job);
    // A job of a lower level cannot stand in for one of a higher level.
    if (waiting === undefined || waiting.id === job.id || isBelow(waiting, job)) return false;
    if (waiting.pending === undefined) listener.acknowledged(undefined);
    else waiting.pending.whenSettled(listener);
    return true;
  }

  /** Makes the job the last one of its key. The previous one is obsolete as soon as the level of this one is reached. */
  enter(job: PendingJob): void {
    this.isUsed = true;
    const name = nameOf(job);
    const before = this.#entries.get(name);
    if (before?.id === job.id) return;
    const entry = entryOf(job);
    entry.pending = job;
    this.#entries.set(name, entry);
    // A job that is being sent does not wait, but if it fails it is not retried after it was replaced.
    if (before === undefined || isBelow(entry, before)) return;
    if (job.onDuplicate === 'keep' && this.#waits(before) === undefined) return;
    entry.before = before;
    job.whenSettled({
      acknowledged: (error) => {
        if (entry.before === undefined) return;
        if (error === undefined) this.#giveUp(entry.before);
        // The new job is not kept anywhere: the previous one stays, as if the call had not been made.
        else if (this.#entries.get(name) === entry && !this.#waits(entry)) {
          this.#entries.set(name, entry.before);
        }
        entry.before = undefined;
      },
    });
  }

  /** Called when the job is only on disk from now on. */
  putOnDisk(job: PendingJob, isDelayed: boolean): void {
    const entry = this.#entries.get(nameOf(job));
    if (entry?.id !== job.id) return;
    entry.pending = undefined;
    entry.place = job.place;
    entry.isDelayed = isDelayed;
  }

  /** Called when a job that was read goes back to disk until its time. */
  delay(job: Identified & { readonly id: string }, place: JobPlace): void {
    const entry = this.#entries.get(nameOf(job));
    if (entry?.id !== job.id) return;
    entry.place = place;
    entry.isDelayed = true;
  }

  /** Called when the job is in memory again. */
  loaded(job: PendingJob): void {
    const entry = this.#entries.get(nameOf(job));
    const { place } = job;
    if (place !== undefined && place.segment.stateOf(place.number) === jobStates.done) {
      // It was given up while it was being read.
      job.isObsolete = true;
    } else if (entry === undefined) {
      this.enter(job);
    } else if (entry.id === job.id) {
      entry.pending = job;
      entry.place = undefined;
    }
  }

  /** Called when the job is done, or gone. */
  left(job: PendingJob): void {
    const name = nameOf(job);
    if (this.#entries.get(name)?.id === job.id) this.#entries.delete(name);
  }

  /** Gives up the waiting job. Returns the job if it is in memory, and its place if it has one; undefined if none is waiting. */
  cancel(
    wanted: Identified,
  ): { readonly job: PendingJob | undefined; readonly place: JobPlace | undefined } | undefined {
    const entry = this.#waiting(wanted);
    if (entry === undefined) return undefined;
    this.#entries.delete(nameOf(wanted));
    this.#giveUp(entry);
    const { pending: job } = entry;
    if (job === undefined) return { job, place: entry.place };
    // No later write would carry the mark past a crash, so it is written now.
    job.place?.journal.done(job.place);
    return { job, place: job.place };
  }

  /** Takes over the keys of jobs in the journal of an exited process. Their queues do not have the jobs yet. */
  adopt(journal: Journal): void {
    for (const { number, record } of journal.keyed) {
      const place = journal.waitingAt(number);
      if (place === undefined) continue;
      this.isUsed = true;
      const found: Entry = { ...entryOf(record), place };
      const known = this.#waiting(record);
      if (known === undefined) this.#entries.set(nameOf(record), found);
      else this.#resolveDuplicate(journal, nameOf(record), known, found);
    }
  }

  #resolveDuplicate(journal: Journal, name: string, known: Entry, found: Entry): void {
    const isNewer = found.deferredAtMs >= known.deferredAtMs;
    const decides = isNewer ? found : known;
    // Two jobs that were acknowledged in the same millisecond may both stay.
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

  /* Returns undefined for a job that is being sent, or that its journal no longer has. */
  #waits(entry: Entry): Entry | undefined {
    const { pending, place, sink } = entry;
    if (pending !== undefined) {
      return this.#queueOf(sink)?.isInFlight(pending) === true ? undefined : entry;
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
        this.#queueOf(sink)?.giveUpInMemory(pending);
      } else if (place !== undefined) {
        this.#queueOf(sink)?.giveUp(place, job, isDelayed);
      }
    }
  }
}

function entryOf(job: KeyedRecord['record'] & { readonly level?: Level }): Entry {
  const {
    id,
    sink,
    job: name,
    level = 'process',
    runAtMs,
    deferredAtMs,
    onDuplicate = 'keep',
  } = job;
  const where = { pending: undefined, place: undefined, isDelayed: false, before: undefined };
  return { id, sink, job: name, level, runAtMs, deferredAtMs, onDuplicate, ...where };
}

function nameOf({ sink, job, key }: Identified): string {
  return JSON.stringify([sink, job, key]);
}

function isBelow(one: { readonly level: Level }, other: { readonly level: Level }): boolean {
  return levels.indexOf(one.level) < levels.indexOf(other.level);
}
