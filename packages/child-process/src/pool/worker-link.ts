import type { ChildProcess } from 'node:child_process';
import type { Kind, Post, Value } from './messages.ts';

/** A worker process and the way to talk to it, whatever the transport. */
export interface WorkerLink {
  readonly process: ChildProcess;
  post: Post;
  /** Whether the worker keeps this process alive. */
  setRef(isRef: boolean): void;
  /** Ends the conversation; the worker ends itself then. */
  end(): void;
}

export interface LinkListener {
  onMessage(kind: Kind, id: number, value: Value): void;
  /** Nothing will come any more. Called once, after the last message. */
  onDown(cause?: Error): void;
}
