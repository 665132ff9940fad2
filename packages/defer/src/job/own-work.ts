import { AsyncLocalStorage } from 'node:async_hooks';

const ownWork: AsyncLocalStorage<OwnWork> = new AsyncLocalStorage();

/** A handler, or a batch, that this package runs: what it defers belongs to no request. */
export class OwnWork {
  /* A connection that is opened in a handler keeps this context when the handler is over. */
  #isOver = false;

  run<Result>(work: () => Result): Result {
    return ownWork.run(this, work);
  }

  readonly over = (): void => {
    this.#isOver = true;
  };

  /** The caller is a handler that is running. */
  static isRunning(): boolean {
    const own = ownWork.getStore();
    return own !== undefined && !own.#isOver;
  }
}
