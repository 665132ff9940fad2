import type { LineSink } from '@redline/http/pino';
import type { DestinationStream } from 'pino';

/** Where lines go, and how to be sure that they got there. */
export interface LogDestination {
  /** What pino writes to. */
  readonly stream: DestinationStream;
  /** What takes the lines that the engine writes. */
  readonly lines: LineSink;
  /** Whether bytes are on their way that only time can bring home. */
  readonly writing: boolean;
  flush(): void;
  flushSync(): void;
  /** As `flushSync`, and last: the engine gives no more answers that have a line. */
  end(): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}
