import type { DestinationStream } from 'pino';

/** Where lines go, and how to be sure that they got there. */
export interface LogDestination {
  /** What pino writes to. */
  readonly stream: DestinationStream;
  /** Whether bytes are on their way that only time can bring home. */
  readonly writing: boolean;
  flush(): void;
  flushSync(): void;
  drain(): Promise<void>;
  close(): Promise<void>;
}
