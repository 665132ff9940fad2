import type { ChildProcess } from 'node:child_process';
import type { Kind, Post, Value } from './messages.ts';

/** A worker process and the connection to it, for any transport. */
export interface WorkerLink {
  readonly process: ChildProcess;
  post: Post;
  /** Sets if the worker keeps this process alive. */
  setRef(isRef: boolean): void;
  /** Closes the connection; the worker then exits by itself. */
  end(): void;
}

export interface LinkListener {
  onMessage(kind: Kind, id: number, value: Value): void;
  /** Called once, after the last message. */
  onDown(cause?: Error): void;
}
