import cluster from 'node:cluster';

import { streamSink } from '@redline/http/pino';
import type { DestinationStream } from 'pino';

import { LineWriter } from './line-writer.ts';
import type { LogDestination } from './log-destination.ts';
import type { ResolvedOptions } from './options.ts';

/** What pino's destinations, its transports and Node's own streams have, each some of it. */
interface MaybeFlushable {
  write(line: string, callback?: () => void): unknown;
  flush?(): void;
  flushSync?(): void;
  readonly writableLength?: number;
}

/** Opens a path or a descriptor; takes a stream as it is. */
export function openDestination(options: ResolvedOptions): LogDestination {
  const { destination } = options;
  if (typeof destination === 'object') return wrapStream(destination);
  if (destination === 1 && isPm2Worker()) return wrapStream(process.stdout);
  return new LineWriter(destination, options.bufferLength, options.flushIntervalMs);
}

/* In its cluster mode PM2 takes over process.stdout.write, and reads nothing of what is written to the descriptor. */
function isPm2Worker(): boolean {
  return cluster.isWorker && process.env['pm_id'] !== undefined;
}

/** A user's own stream or a pino transport: asked to flush, never ended. */
export function wrapStream(stream: MaybeFlushable): LogDestination {
  const lines = streamSink(stream);
  const flushSync = (): void => {
    lines.linesWait(true);
    try {
      stream.flushSync?.();
    } catch {
      // sonic-boom throws before its file is open, thread-stream after its worker has gone.
    }
  };
  const isWriting = (): boolean => (stream.writableLength ?? 0) > 0;
  const drain = async (): Promise<void> => {
    flushSync();
    // A stream calls back in order: once for this, when everything before it is written.
    if (isWriting()) await new Promise<void>((resolve) => void stream.write('', () => resolve()));
  };
  return {
    stream: stream as DestinationStream,
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
