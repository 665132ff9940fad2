import type { OnDuplicate } from '../job/job.ts';
import type { DeferContext } from '../sink.ts';

/** A job as the journal stores it. */
export interface JobRecord {
  readonly id: string;
  readonly sink: string;
  readonly job: string;
  readonly key: string | undefined;
  readonly json: string;
  readonly deferredAtMs: number;
  readonly attempt: number;
  readonly context: DeferContext | undefined;
  readonly options: Readonly<Record<string, unknown>> | undefined;
  /** Wall clock of the moment it is to run, if that is not the call's. */
  readonly runAtMs?: number | undefined;
  /** The option of the call, if it had one. */
  readonly onDuplicate?: OnDuplicate | undefined;
}

/** A job that was deferred with `onDuplicate`. */
export interface KeyedRecord {
  readonly number: number;
  /** Without its data. */
  readonly record: Omit<JobRecord, 'json' | 'context' | 'options' | 'attempt'>;
}

/** Names are code, and few. */
const maxNames = 1_000;
const quotedNames = new Map<string, string>();

function quoted(name: string): string {
  let text = quotedNames.get(name);
  if (text !== undefined) return text;
  text = JSON.stringify(name);
  if (quotedNames.size < maxNames) quotedNames.set(name, text);
  return text;
}

/* Two lines: the core's fields as a JSON array, then the data unchanged. JSON text has no raw line break. */
export function encodeJobRecord(record: JobRecord): string {
  const { id, sink, job, key, json, deferredAtMs, attempt, context, options, runAtMs } = record;
  const { onDuplicate } = record;
  // Readers of the first version stop where its fields ended: they do not know `onDuplicate`, and run both jobs.
  const last = onDuplicate === undefined ? '' : `,${JSON.stringify(onDuplicate)}`;
  const timed = runAtMs === undefined && last === '' ? '' : `,${runAtMs ?? 'null'}${last}`;
  const extra =
    context === undefined && options === undefined && timed === ''
      ? ''
      : `,${toJson(context)},${toJson(options)}${timed}`;
  return `["${id}",${quoted(sink)},${quoted(job)},${key === undefined ? 'null' : JSON.stringify(key)},${deferredAtMs},${attempt}${extra}]\n${json}`;
}

/* A `toJSON` that returns nothing is stored as null: the record must be readable, whatever an app puts into it. */
function toJson(value: object | undefined): string {
  return (value === undefined ? undefined : JSON.stringify(value)) ?? 'null';
}

/** @throws {SyntaxError} when the text is not a record, which the checksum rules out for what this package wrote. */
export function decodeJobRecord(text: string): JobRecord {
  const lineEnd = text.indexOf('\n');
  const [id, sink, job, key, deferredAtMs, attempt, context, options, runAtMs, onDuplicate] =
    JSON.parse(text.slice(0, lineEnd)) as [
      string,
      string,
      string,
      string | null,
      number,
      number,
      DeferContext?,
      Record<string, unknown>?,
      (number | null)?,
      OnDuplicate?,
    ];
  return {
    id,
    sink,
    job,
    key: key ?? undefined,
    json: text.slice(lineEnd + 1),
    deferredAtMs,
    attempt,
    context: context ?? undefined,
    options: options ?? undefined,
    runAtMs: runAtMs ?? undefined,
    onDuplicate,
  };
}

/** The fields that a process keeps of the record of a job on disk. */
export function withoutData(record: JobRecord): KeyedRecord['record'] {
  const { id, sink, job, key, deferredAtMs, runAtMs, onDuplicate } = record;
  return { id, sink, job, key, deferredAtMs, runAtMs, onDuplicate };
}
