import cluster from 'node:cluster';

import { streamSink } from '@redline/http/pino';
import { type DestinationStream, symbols } from 'pino';

import { LineWriter } from './line/line-writer.ts';
import { withoutRejection } from './callback-fault.ts';
import type { LogDestination } from './flush-on-exit.ts';
import type { ResolvedOptions } from './options.ts';

/** The methods of pino's destinations, its transports and Node's own streams; each has some of them. */
interface MaybeFlushable {
  write(line: string, callback?: () => void): unknown;
  flush?(): void;
  flushSync?(): void;
  readonly writableLength?: number;
}

/** Opens a path or a descriptor; wraps a stream. */
export function openDestination(options: ResolvedOptions): LogDestination {
  const { destination } = options;
  if (typeof destination === 'object') return wrapStream(destination);
  if (destination === 1 && isPm2Worker()) return wrapStream(process.stdout);
  return new LineWriter(destination, options.bufferLength, options.flushIntervalMs);
}

/* In its cluster mode PM2 replaces process.stdout.write, and does not read bytes written to the descriptor. */
function isPm2Worker(): boolean {
  return cluster.isWorker && process.env['pm_id'] !== undefined;
}

/*
 * An object with an asynchronous `write` cannot report a failure. Streams have events for it; pino leaves the metadata of a line
 * on a destination that asks for it, which has to be the very object.
 */
function withoutRejections(stream: MaybeFlushable): MaybeFlushable {
  const { on, [symbols.needsMetadataGsym]: needsMetadata } = stream as unknown as Record<
    PropertyKey,
    unknown
  >;
  if (typeof on === 'function' || needsMetadata === true) return stream;
  const safe = Object.create(stream) as Record<string, unknown>;
  safe['write'] = (...args: [string]) => withoutRejection(stream.write(...args));
  // pino calls these as well, and private fields are those of the object itself.
  for (const name of ['flush', 'flushSync', 'end']) {
    const method: unknown = Reflect.get(stream, name);
    if (typeof method === 'function') safe[name] = method.bind(stream);
  }
  return safe as unknown as MaybeFlushable;
}

/** Wraps a user's own stream or a pino transport: it is flushed, never ended. */
export function wrapStream(stream: MaybeFlushable): LogDestination {
  const safe = withoutRejections(stream);
  const lines = streamSink(safe);
  const flushSync = (): void => {
    lines.linesWait(true);
    try {
      stream.flushSync?.();
    } catch {
      // sonic-boom throws before its file is open, thread-stream after its worker has exited.
    }
  };
  const isWriting = (): boolean => (stream.writableLength ?? 0) > 0;
  const drain = async (): Promise<void> => {
    flushSync();
    // A stream calls back in order: once for this, when everything before it is written.
    if (isWriting()) await new Promise<void>((resolve) => void stream.write('', () => resolve()));
  };
  return {
    stream: safe as DestinationStream,
    lines,
    get writing() {
      return isWriting();
    },
    flush: () => void stream.flush?.(),
    flushSync,
    end: () => lines.end(),
    drain,
    close: drain,
  };
}
