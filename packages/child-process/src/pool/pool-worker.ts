import { PoolError } from './errors.ts';
import { kind, type Kind, type SpawnRequest, type Value } from './messages.ts';
import { openLink, type WorkerLink } from './worker-link.ts';
import type { ResolvedPoolOptions } from './options.ts';
import type { ChildHost, PoolChild } from './pool-child.ts';

export interface WorkerListener {
  /** The worker is gone; its children have been notified. */
  onDown(worker: PoolWorker): void;
  /** A child has ended, or no longer needs the worker. */
  onProgress(): void;
}

/** One worker process and the children that run in it. */
export class PoolWorker implements ChildHost {
  /** True once the worker was up: an exit after that does not count as a failed start. */
  isReady = false;
  readonly #children = new Map<number, PoolChild>();
  readonly #link: WorkerLink;
  readonly #exited: Promise<void>;
  readonly #listener: WorkerListener;
  #isDown = false;
  #isGroupKilled = false;
  #isRef = true;

  constructor(options: ResolvedPoolOptions, listener: WorkerListener) {
    this.#listener = listener;
    this.#link = openLink(options, {
      onMessage: (messageKind, id, value) => this.#receive(messageKind, id, value),
      onDown: (cause) => this.#goDown(cause),
    });
    const { process: worker } = this.#link;
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => resolve());
      worker.once('error', () => worker.pid === undefined && resolve());
    });
    worker.once('exit', () => this.#killGroup());
    this.refChanged();
  }

  get pid(): number | undefined {
    return this.#link.process.pid;
  }

  get busy(): number {
    return this.#children.size;
  }

  /** True if one of its children must be waited for: until its output is read, or only until it has ended. */
  isAwaited(untilTheyEnd: boolean): boolean {
    return [...this.#children.values()].some(
      (child) => child.isRef && !(untilTheyEnd && child.isOver),
    );
  }

  run(child: PoolChild, request: SpawnRequest): void {
    this.#children.set(child.id, child);
    child.attach(this);
    this.post(kind.spawn, child.id, request);
    this.refChanged();
  }

  post(messageKind: Kind, id: number, value?: Value): void {
    this.#link.post(messageKind, id, value);
  }

  release(child: PoolChild): void {
    this.#children.delete(child.id);
    this.refChanged();
    this.#listener.onProgress();
  }

  hasExited(): void {
    this.#listener.onProgress();
  }

  /** An idle worker does not keep this process alive; a running child does, unless it was unref'ed. */
  refChanged(): void {
    const isRef = [...this.#children.values()].some((child) => child.isRef);
    if (isRef === this.#isRef) return;
    this.#isRef = isRef;
    this.#link.setRef(isRef);
    this.#listener.onProgress();
  }

  killChildren(signal: NodeJS.Signals): void {
    for (const child of this.#children.values()) child.kill(signal);
  }

  /** Resolves when the process has exited. */
  async end(): Promise<void> {
    for (const child of this.#children.values()) child.detach();
    this.#children.clear();
    this.#link.setRef(true);
    this.#link.end();
    await this.#exited;
  }

  #receive(messageKind: Kind, id: number, value: Value): void {
    if (messageKind === kind.ready) {
      this.isReady = true;
      return;
    }
    try {
      this.#children.get(id)?.receive(messageKind, value);
    } catch (error) {
      // Rethrown later, because other messages of the batch must reach their children despite a listener's error.
      process.nextTick(() => {
        throw error;
      });
    }
  }

  #goDown(cause: Error | undefined): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#killGroup();
    const orphans = [...this.#children.values()];
    this.#children.clear();
    for (const child of orphans) child.abandon(this.#describeEnd(child, cause));
    this.#listener.onDown(this);
  }

  #describeEnd(child: PoolChild, cause: Error | undefined): PoolError {
    const { exitCode, signalCode } = this.#link.process;
    const how = signalCode ?? (exitCode === null ? undefined : `exit code ${exitCode}`);
    return new PoolError(
      'ERR_REDLINE_POOL_WORKER_DIED',
      `The worker (pid ${this.pid}) that ran "${child.spawnfile}" exited${how === undefined ? '' : ` with ${how}`}; the child was killed with it.`,
      { cause },
    );
  }

  /**
   * Kills the worker's process group, which contains its children except detached ones, which are meant to outlive it. Runs
   * only once: after the worker and its group are gone, the number may be reused, which is the case if a process has it.
   */
  #killGroup(): void {
    if (this.pid === undefined || this.#isGroupKilled) return;
    this.#isGroupKilled = true;
    const { exitCode, signalCode } = this.#link.process;
    const hasEnded = exitCode !== null || signalCode !== null;
    if (hasEnded && isSignalled(this.pid, 0)) return;
    isSignalled(-this.pid, 'SIGKILL');
  }
}

/** Returns false if the process or group does not exist. */
function isSignalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
