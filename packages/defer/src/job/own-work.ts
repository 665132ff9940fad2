import { AsyncLocalStorage } from 'node:async_hooks';

const ownWork: AsyncLocalStorage<OwnWork> = new AsyncLocalStorage();

/** A handler, or a batch, run by this package: the jobs it defers belong to no request. */
export class OwnWork {
  /* A connection that is opened in a handler keeps this context after the handler has finished. */
  #isOver = false;

  run<Result>(work: () => Result): Result {
    return ownWork.run(this, work);
  }

  readonly over = (): void => {
    this.#isOver = true;
  };

  /** True if the caller is a running handler. */
  static isRunning(): boolean {
    const own = ownWork.getStore();
    return own !== undefined && !own.#isOver;
  }
}
