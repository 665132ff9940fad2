import type { OnDuplicate } from '../job/level.ts';
import type { DeferContext } from '../sink.ts';

/** A job as the journal keeps it. */
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
  /** Wall clock of the moment it is to run, where that was not the call's. */
  readonly runAtMs?: number | undefined;
  /** Where the call said so: what becomes of it, or of another one of its key. */
  readonly onDuplicate?: OnDuplicate | undefined;
}

/** Names are code, and few. */
const mostNames = 1_000;
const quotedNames = new Map<string, string>();

function quoted(name: string): string {
  let text = quotedNames.get(name);
  if (text !== undefined) return text;
  text = JSON.stringify(name);
  if (quotedNames.size < mostNames) quotedNames.set(name, text);
  return text;
}

/* Two lines: what the core knows as a JSON array, then the data as it came. JSON text has no raw line break. */
export function encodeJobRecord(record: JobRecord): string {
  const { id, sink, job, key, json, deferredAtMs, attempt, context, options, runAtMs } = record;
  const { onDuplicate } = record;
  // Readers of the first version stop where theirs ended: they know no keys that are taken, and run both.
  const last = onDuplicate === undefined ? '' : `,${JSON.stringify(onDuplicate)}`;
  const timed = runAtMs === undefined && last === '' ? '' : `,${runAtMs ?? 'null'}${last}`;
  const extra =
    context === undefined && options === undefined && timed === ''
      ? ''
      : `,${toJson(context)},${toJson(options)}${timed}`;
  return `["${id}",${quoted(sink)},${quoted(job)},${key === undefined ? 'null' : JSON.stringify(key)},${deferredAtMs},${attempt}${extra}]\n${json}`;
}

/* Where `toJSON` has nothing to say, neither has the record: it must be read again, whatever an app puts into it. */
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
