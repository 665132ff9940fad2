import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { short, type Log } from './log.ts';

/** Of each stream: what came out of it, whoever read it. Where one chunk ends and the next begins is chance. */
const bytes = new WeakMap<Readable, Buffer[]>();
/** From so many bytes on, they may come in several pieces. */
const MUCH = 1000;
/** What the grandchildren of the programs say. */
const lateWords = 'later\n';

/** Streams whose every chunk a 'data' listener sees. */
const watched = new WeakSet<Readable>();

/** All that read the same pipe, by each of them. */
const sharers = new WeakMap<Readable, Set<Readable>>();

/** Outputs that `exec` and `execFile` read. */
const collected = new WeakSet<Readable>();

/** Another child reads the same pipe, beside this process if it collects: which of them gets what is chance. */
export function share(one: Readable, other: Readable, isCollected: boolean): void {
  if (isCollected) collected.add(one);
  const all = sharers.get(one) ?? new Set([one]);
  all.add(other);
  for (const each of all) sharers.set(each, all);
}

export function streamLog(log: Log, name: string, index: number): unknown[] {
  return (log[`${name} fd ${index}`] ??= []);
}

/** When somebody looks at a stream, and where it is noted. */
export interface Look {
  readonly name: string;
  readonly log: Log;
  readonly isPastExit?: boolean;
}

export function read(stream: Readable | null, index: number, look: Look): void {
  if (stream === null) return;
  const { name, log, isPastExit = false } = look;
  const events = streamLog(log, name, index);
  const chunks = bytesOf(stream, events);
  if (!watched.has(stream)) {
    watched.add(stream);
    stream.on('data', (chunk: Buffer | string) => chunks.push(toBuffer(chunk)));
  }
  // Whether the end of what has ended by now, or ends at this moment, is still to be seen is chance.
  if (isPastExit || stream.destroyed) return;
  stream.on('end', () => events.push('end'));
  stream.on('close', () => events.push('close'));
}

export function readByHand(stream: Readable, events: unknown[]): void {
  const chunks = bytesOf(stream, events);
  stream.on('readable', () => {
    let chunk: Buffer | string | null;
    while ((chunk = stream.read() as Buffer | string | null) !== null) {
      if (!watched.has(stream)) chunks.push(toBuffer(chunk));
    }
  });
}

export async function iterate(stream: Readable, events: unknown[]): Promise<void> {
  const chunks = bytesOf(stream, events);
  try {
    for await (const chunk of stream) {
      if (!watched.has(stream)) chunks.push(toBuffer(chunk as Buffer | string));
    }
    events.push('iterated');
  } catch (error) {
    events.push(['iterated', short(error)]);
  }
}

/** Short output as it is, long output as its digest. */
export function digest(output: unknown): string {
  const all = Buffer.from(output as string);
  if (all.length < 100) return all.toString('latin1');
  return `${all.length} bytes, ${createHash('md5').update(all).digest('hex')}`;
}

/**
 * The bytes that `exec` and `execFile` have collected, with their digest. Where other children read the same output, it is chance which
 * of them gets what, if it is much: that is known when the log is written.
 */
export function collectedBytes(stream: Readable, count: number, digested: string): unknown {
  const others = [...(sharers.get(stream) ?? [])].filter((other) => bytes.has(other));
  const all = () => count + others.reduce((sum, other) => sum + countOf(bytes.get(other)!), 0);
  return {
    toJSON: () => (others.length > 0 && all() > MUCH ? 'many bytes' : digested),
  };
}

/** Shown by their digest when the log is written. */
function bytesOf(stream: Readable, events: unknown[]): Buffer[] {
  const known = bytes.get(stream);
  if (known) return known;
  const chunks: Buffer[] = [];
  bytes.set(stream, chunks);
  events.push({
    toJSON: () =>
      isCutShort(stream, chunks) ? 'many bytes' : digest(lateWordsLast(Buffer.concat(chunks))),
  });
  return chunks;
}

/** What a grandchild says in the middle of more than its pipe holds stands where the reader has come to by then: that is chance. */
function lateWordsLast(all: Buffer): Buffer {
  if (all.length < 500_000) return all;
  const parts = all.toString('latin1').split(lateWords);
  return Buffer.from(parts.join('') + lateWords.repeat(parts.length - 1), 'latin1');
}

/** How much has come by the time that somebody destroys a stream, or of what another reads too, is chance, if it is much. */
function isCutShort(stream: Readable, chunks: readonly Buffer[]): boolean {
  const others = [...(sharers.get(stream) ?? [])].filter(
    (other) => other !== stream && (bytes.has(other) || collected.has(other)),
  );
  const isShared = others.length > 0;
  const all = [...chunks, ...others.flatMap((other) => bytes.get(other) ?? [])];
  return (isShared || !stream.readableEnded) && countOf(all) > MUCH;
}

function countOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

function toBuffer(chunk: Buffer | string): Buffer {
  return typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
}
