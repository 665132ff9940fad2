/* A server that names something else in each message would fill the log. */
const maxTold = 8;

/** What keeps a store from working as it was asked to, while it still works. */
export class Faults {
  readonly #told = new Set<string>();
  readonly #listeners = new Set<(fault: string) => void>();

  /** Each text once. */
  tell(fault: string): void {
    if (this.#told.size >= maxTold || this.#told.has(fault)) return;
    this.#told.add(fault);
    for (const listener of this.#listeners) listener(fault);
  }

  /** Calls `listener` with those of before, and of later. */
  readonly watch = (listener: (fault: string) => void): void => {
    this.#listeners.add(listener);
    for (const fault of this.#told) listener(fault);
  };
}
