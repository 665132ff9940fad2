import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { DeferError } from '../errors.ts';
import { decodeCheckpoint, decodeStates, type Checkpoint } from './checkpoint.ts';
import {
  claimedFrameBytes,
  findFrame,
  frameHeaderBytes,
  frameKinds,
  journalVersion,
  readFrame,
  readSegmentVersion,
  segmentHeaderBytes,
  segmentSalt,
  type FrameSpan,
} from './frame.ts';
import type { JournalFs } from './journal-fs.ts';
import { decodeJobRecord, type JobRecord } from './job-record.ts';
import { parseRanges } from './number-ranges.ts';
import { withoutReserve } from './reserve.ts';
import { Tries, type TryMark } from './tries.ts';
import { jobStates, Segment, segmentName, type JobState } from './segment.ts';

/** Damaged bytes, after which reading continued. */
export interface Damage {
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  /**
   * `'torn'`: half a frame and nothing behind it, as after a crash in the middle of a write. `'missing'`: the file does
   * not exist or is empty. `'cut'`: jobs of its end are missing, though files behind it exist. `'unreadable'`: the disk
   * cannot read it.
   */
  readonly kind: 'torn' | 'damaged' | 'header' | 'checkpoint' | 'missing' | 'cut' | 'unreadable';
  /** `'missing'` and `'cut'`: how many jobs are missing that nothing says are done. */
  readonly jobs?: number;
}

export interface RecoveredJournal {
  readonly segments: Segment[];
  readonly sinks: string[];
  readonly generations: Record<string, string>;
  readonly nextJob: number;
  readonly nextSegment: number;
  readonly tries: Tries;
  readonly damages: Damage[];
}

/** A journal as its folder was listed. */
export interface JournalFolder {
  readonly fs: JournalFs;
  readonly id: string;
  readonly folder: string;
  readonly names: readonly string[];
}

type Visit = (number: number, record: JobRecord) => void;

/**
 * Reads a journal after a crash. Never fails because of damaged bytes: they are in `damages`.
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL_VERSION
 * @throws {DeferError} ERR_REDLINE_DEFER_JOURNAL: a file cannot be read at all
 */
export async function recoverJournal(
  journal: JournalFolder,
  now: number,
  visit?: Visit,
): Promise<RecoveredJournal> {
  const { folder, names } = journal;
  const damages: Damage[] = [];
  const checkpoint = await readCheckpoint(journal, damages);
  const recovery = new Recovery(checkpoint, damages, visit);
  for (const number of segmentNumbers(names)) {
    const segment = new Segment(number, segmentSalt(journal.id, number), now);
    segment.lastSentAtMs = now;
    const file = join(folder, nameOf(names, number));
    const bytes = await readOwn(journal.fs, file);
    if (bytes === undefined) damages.push({ file, offset: 0, bytes: 0, kind: 'unreadable' });
    else recovery.take(segment, withoutReserve(bytes), file);
  }
  recovery.finish();
  const { segments, sinks, tries, generations, lastJob } = recovery;
  addMissing(recovery, checkpoint, damages, (number) => join(folder, segmentName(number)));
  return {
    segments,
    sinks,
    tries,
    generations,
    nextJob: lastJob + 1,
    nextSegment: Math.max(checkpoint?.segment ?? 0, ...segmentNumbers(names)) + 1,
    damages,
  };
}

/** Puts a journal together from its segments, in their order, and its checkpoint. */
class Recovery {
  readonly segments: Segment[] = [];
  readonly sinks: string[] = [];
  readonly generations: Record<string, string>;
  readonly tries: Tries;
  lastJob = 0;
  /** Jobs that marks speak of, and no segment has. */
  readonly marked = new Set<number>();
  readonly #checkpoint: Checkpoint | undefined;
  readonly #damages: Damage[];
  readonly #visit: Visit | undefined;
  readonly #marks: { position: [segment: number, offset: number]; apply: () => void }[] = [];

  constructor(checkpoint: Checkpoint | undefined, damages: Damage[], visit: Visit | undefined) {
    this.#checkpoint = checkpoint;
    this.#damages = damages;
    this.#visit = visit;
    this.generations = { ...checkpoint?.generations };
    this.tries = new Tries(checkpoint?.tries);
  }

  /** The next segment, and the bytes of its file. */
  take(segment: Segment, bytes: Buffer, file: string): void {
    segment.bytes = bytes.length;
    checkHeader(bytes, file, this.#damages);
    for (const frame of framesOf(bytes, file, segment.salt, this.#damages)) {
      const payload = bytes.toString('utf8', frame.start + frameHeaderBytes, frame.end);
      if (frame.kind === frameKinds.job) {
        this.#addJob(segment, frame, payload, file);
      } else {
        const apply = this.#readMark(frame, payload);
        this.#marks.push({ position: [segment.number, frame.start], apply });
      }
    }
    this.segments.push(segment);
  }

  /** All segments are taken: jobs get the states of the checkpoint, and those of marks that are newer. */
  finish(): void {
    const checkpoint = this.#checkpoint;
    if (checkpoint !== undefined) this.#applyCheckpoint(checkpoint);
    for (const { position, apply } of this.#marks) {
      const isKnown =
        checkpoint !== undefined &&
        (position[0] < checkpoint.segment ||
          (position[0] === checkpoint.segment && position[1] < checkpoint.offset));
      if (!isKnown) apply();
    }
  }

  #addJob(
    segment: Segment,
    { number, start, end }: FrameSpan,
    payload: string,
    file: string,
  ): void {
    if (number <= this.lastJob) return;
    this.lastJob = number;
    const record = recordOf(payload);
    if (record === undefined) {
      this.#damages.push({ file, offset: start, bytes: end - start, kind: 'damaged' });
      return;
    }
    let sink = this.sinks.indexOf(record.sink);
    if (sink === -1) sink = this.sinks.push(record.sink) - 1;
    segment.add(number, sink, jobStates.waiting);
    this.#visit?.(number, record);
  }

  #applyCheckpoint(checkpoint: Checkpoint): void {
    // Killed before it could remove segments that the checkpoint no longer lists.
    const kept = new Set(checkpoint.segments.map(({ number }) => number));
    for (const segment of this.segments) {
      if (segment.number >= checkpoint.segment || kept.has(segment.number)) continue;
      segment.move(jobStates.waiting, jobStates.done, () => true);
    }
    for (const states of checkpoint.segments) {
      for (const [job, state] of decodeStates(states)) mark(this.segments, job, state);
      this.lastJob = Math.max(this.lastJob, states.firstJob);
    }
  }

  #readMark({ kind }: FrameSpan, payload: string): () => void {
    const { segments } = this;
    if (kind === frameKinds.done) return () => this.#markAll(payload, jobStates.done);
    if (kind === frameKinds.tried) {
      const tried = JSON.parse(payload) as { mark: TryMark; jobs: string };
      return () => {
        for (const [first, last] of parseRanges(tried.jobs)) {
          for (let job = first; job <= last; job++) this.tries.add(tried.mark, job);
        }
      };
    }
    const { sink, generation, jobs } = JSON.parse(payload) as {
      sink: string;
      generation?: string;
      jobs?: string;
    };
    if (kind === frameKinds.replayed) {
      return () => {
        const index = this.sinks.indexOf(sink);
        for (const segment of segments) {
          segment.move(jobStates.sent, jobStates.waiting, (_, of) => of === index);
        }
      };
    }
    return () => {
      if (generation !== undefined) this.generations[sink] = generation;
      this.#markAll(jobs ?? '', jobStates.sent);
    };
  }

  #markAll(ranges: string, state: JobState): void {
    for (const [first, last] of parseRanges(ranges)) {
      for (let job = first; job <= last; job++) {
        if (!mark(this.segments, job, state)) this.marked.add(job);
      }
    }
  }
}

/* Whole, and yet not a record: one job must not stop all the others of its journal. */
function recordOf(payload: string): JobRecord | undefined {
  try {
    return decodeJobRecord(payload);
  } catch {
    return undefined;
  }
}

/** The version in a folder's first readable header, without reading more of it. */
export function checkVersion(bytes: Buffer, file: string): void {
  const version = readSegmentVersion(bytes);
  if (version === undefined || version <= journalVersion) return;
  throw new DeferError(
    'ERR_REDLINE_DEFER_JOURNAL_VERSION',
    `${file} has the format ${version}, but this package reads formats up to ${journalVersion}: update @redline/defer, or move the folder away. Nothing in it was changed.`,
  );
}

/*
 * The numbers of jobs have no gap, unless a file is missing or its end is: or the jobs could not be written, which a mark
 * says, or are done, which marks say as well.
 */
function addMissing(
  { segments, marked }: Recovery,
  checkpoint: Checkpoint | undefined,
  damages: Damage[],
  pathOf: (number: number) => string,
): void {
  const mayBeGone = (number: number): boolean =>
    checkpoint !== undefined &&
    number <= checkpoint.segment &&
    !checkpoint.segments.some((kept) => kept.number === number);
  const full = segments.filter(({ firstJob }) => firstJob >= 0);
  for (const [at, segment] of full.entries()) {
    const before = full[at - 1];
    if (before === undefined) continue;
    const first = before.firstJob + before.length;
    const jobs = countUnmarked(first, segment.firstJob, marked);
    if (jobs <= 0) continue;
    const between = Array.from(
      { length: segment.number - before.number - 1 },
      (_, index) => before.number + 1 + index,
    );
    const missing = between.find((number) => !mayBeGone(number));
    // Segments that are done may have had them.
    if (missing === undefined && between.length > 0) continue;
    const file = pathOf(missing ?? before.number);
    const kind = missing === undefined ? 'cut' : 'missing';
    const told = damages.findIndex((damage) => damage.file === file && damage.kind !== 'header');
    if (told !== -1 && damages[told]!.kind === 'damaged') {
      damages[told] = { ...damages[told]!, jobs };
      continue;
    }
    if (told !== -1 && damages[told]!.kind !== 'torn') continue;
    // A file with others after it was not cut off by the exit of its process.
    const { offset, bytes } = damages[told] ?? { offset: before.bytes, bytes: 0 };
    if (told !== -1) damages.splice(told, 1);
    damages.push(
      kind === 'cut'
        ? { file, offset, bytes, kind, jobs }
        : { file, offset: 0, bytes: 0, kind, jobs },
    );
  }
}

function countUnmarked(first: number, end: number, marked: ReadonlySet<number>): number {
  let jobs = Math.max(0, end - first);
  for (const job of marked) if (job >= first && job < end) jobs--;
  return jobs;
}

export function segmentNumbers(names: readonly string[]): number[] {
  return names
    .filter((name) => /^\d+\.seg$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

/** Every whole frame; bytes between them go to `damages`. */
export function* framesOf(
  bytes: Buffer,
  file: string,
  salt: number,
  damages: Damage[],
): Generator<FrameSpan> {
  for (let at = segmentHeaderBytes; at < bytes.length;) {
    const frame = readFrame(bytes, at, salt);
    if (frame !== undefined) {
      yield frame;
      at = frame.end;
      continue;
    }
    const next = findFrame(bytes, at + 1, salt);
    const end = next?.start ?? bytes.length;
    const isTorn = next === undefined && isCutOff(bytes, at);
    damages.push({ file, offset: at, bytes: end - at, kind: isTorn ? 'torn' : 'damaged' });
    at = end;
  }
}

/* A killed process leaves the beginning of a frame, a power failure also zeros in its place. Anything else was whole,
   and may have been acknowledged. */
function isCutOff(bytes: Buffer, at: number): boolean {
  const length = claimedFrameBytes(bytes, at) ?? frameHeaderBytes;
  return at + length > bytes.length || bytes.at(-1) === 0;
}

function checkHeader(bytes: Buffer, file: string, damages: Damage[]): void {
  checkVersion(bytes, file);
  if (readSegmentVersion(bytes) !== undefined) return;
  const isTorn = bytes.length <= segmentHeaderBytes;
  damages.push({
    file,
    offset: 0,
    bytes: Math.min(bytes.length, segmentHeaderBytes),
    kind: isTorn ? 'torn' : 'header',
  });
}

async function readCheckpoint(
  { fs, folder, names }: JournalFolder,
  damages: Damage[],
): Promise<Checkpoint | undefined> {
  if (!names.includes('checkpoint')) return undefined;
  const file = join(folder, 'checkpoint');
  const bytes = await readOwn(fs, file);
  if (bytes === undefined) {
    // It only says what need not be done again.
    damages.push({ file, offset: 0, bytes: 0, kind: 'unreadable' });
    return undefined;
  }
  const checkpoint = decodeCheckpoint(bytes.toString());
  if (checkpoint === undefined) {
    damages.push({ file, offset: 0, bytes: bytes.length, kind: 'checkpoint' });
  }
  return checkpoint;
}

/** False where no segment has the job. */
function mark(segments: readonly Segment[], job: number, state: JobState): boolean {
  const segment = segments.findLast(({ firstJob }) => firstJob >= 0 && firstJob <= job);
  if (segment === undefined) return false;
  const before = segment.stateOf(job);
  if (before === jobStates.waiting || (before === jobStates.sent && state === jobStates.done)) {
    segment.set(job, state);
  }
  return before !== jobStates.absent;
}

function nameOf(names: readonly string[], number: number): string {
  return names.find((name) => /^\d+\.seg$/.test(name) && Number.parseInt(name, 10) === number)!;
}

/* Lack of files, memory or rights affects the others too, and may be over soon. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EACCES', 'EPERM', 'EINTR']);

function isTheFilesOwn(error: unknown, file: string): boolean {
  const { code = '' } = ((error as DeferError).cause ?? {}) as NodeJS.ErrnoException;
  if (code === '' || passing.has(code)) return false;
  // Removed since the folder was listed; a link to nowhere is still there.
  return code !== 'ENOENT' || lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/** Undefined when this very file is unreadable. */
async function readOwn(fs: JournalFs, file: string): Promise<Buffer | undefined> {
  try {
    return await read(fs, file);
  } catch (error) {
    if (!isTheFilesOwn(error, file)) throw error;
    return undefined;
  }
}

async function read(fs: JournalFs, file: string): Promise<Buffer> {
  try {
    return await fs.readFile(file);
  } catch (cause) {
    throw new DeferError('ERR_REDLINE_DEFER_JOURNAL', `${file} cannot be read.`, { cause });
  }
}
