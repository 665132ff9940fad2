import { setTimeout as sleep } from 'node:timers/promises';
import { pickBy, type Pick, type ResolvedPoolOptions } from './options.ts';
import { PoolError } from './errors.ts';
import type { SpawnRequest } from './messages.ts';
import { PoolChild } from './pool-child.ts';
import { PoolWorker } from './pool-worker.ts';

/** Retry intervals, growing, for a worker that fails during start-up. */
const firstRetryMs = 100;
const lastRetryMs = 5_000;

export interface CloseOptions {
  /**
   * Sent to the children that are still running; close then does not wait for output that their own children hold open.
   * @default none: close waits for all output
   */
  killSignal?: NodeJS.Signals;
}

/** Manages the workers of one pool: distributes children, replaces workers that died. */
export class ProcessPool {
  readonly #options: ResolvedPoolOptions;
  readonly #pick: Pick;
  readonly #retrying = new AbortController();
  #workers: PoolWorker[] = [];
  #failedStarts = 0;
  #nextId = 0;
  #closing: Promise<void> | undefined;
  #isForced = false;
  #onProgress: (() => void) | undefined;

  constructor(options: ResolvedPoolOptions) {
    this.#options = options;
    this.#pick = pickBy(options.balance);
    for (let i = 0; i < options.size; i++) this.#addWorker();
  }

  get workerPids(): number[] {
    return this.#workers.flatMap(({ pid }) => pid ?? []);
  }

  /** @throws {PoolError} ERR_REDLINE_POOL_CLOSED */
  start(request: SpawnRequest): PoolChild {
    if (this.#closing !== undefined) {
      throw new PoolError(
        'ERR_REDLINE_POOL_CLOSED',
        `"${request.file}" cannot be started: the pool was closed.`,
      );
    }
    this.#nextId = (this.#nextId + 1) % 2 ** 32;
    const child = new PoolChild(this.#nextId, request);
    const worker = this.#pick(this.#workers);
    if (worker !== undefined) worker.run(child, request);
    else {
      child.abandon(
        new PoolError(
          'ERR_REDLINE_POOL_NO_WORKER',
          `"${request.file}" cannot be started: no worker is up; the last ${this.#failedStarts} exited during start-up.`,
        ),
      );
    }
    return child;
  }

  close({ killSignal }: CloseOptions = {}): Promise<void> {
    if (killSignal !== undefined) {
      this.#isForced = true;
      for (const worker of this.#workers) worker.killChildren(killSignal);
      this.#onProgress?.();
    }
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#retrying.abort();
    while (this.#workers.some((worker) => worker.isAwaited(this.#isForced))) {
      await new Promise<void>((resolve) => {
        this.#onProgress = resolve;
      });
    }
    await Promise.all(this.#workers.map((worker) => worker.end()));
  }

  #addWorker(): void {
    this.#workers.push(
      new PoolWorker(this.#options, {
        onDown: (worker) => void this.#replace(worker),
        onProgress: () => this.#onProgress?.(),
      }),
    );
  }

  async #replace(worker: PoolWorker): Promise<void> {
    this.#workers = this.#workers.filter((each) => each !== worker);
    this.#onProgress?.();
    if (this.#closing !== undefined) return;
    this.#failedStarts = worker.isReady ? 0 : this.#failedStarts + 1;
    if (this.#failedStarts > this.#options.size) {
      const waitMs = firstRetryMs * 2 ** (this.#failedStarts - this.#options.size);
      try {
        await sleep(Math.min(waitMs, lastRetryMs), undefined, {
          ref: false,
          signal: this.#retrying.signal,
        });
      } catch {
        return;
      }
    }
    this.#addWorker();
  }
}
