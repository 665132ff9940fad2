import type { LineSink } from '@redline/http/pino';
import type { DestinationStream } from 'pino';

/** The destination of lines, with methods to ensure that they were written. */
export interface LogDestination {
  /** The stream that pino writes to. */
  readonly stream: DestinationStream;
  /** The sink of the lines that the engine writes. */
  readonly lines: LineSink;
  /** True if a pending write can only be waited for. */
  readonly writing: boolean;
  flush(): void;
  flushSync(): void;
  /** Same as `flushSync`, and the last one: the engine then sends no more responses of its own that have a line. */
  end(): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}
