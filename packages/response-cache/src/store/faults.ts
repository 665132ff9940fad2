/* Max number of faults reported: a server whose messages all differ would fill the log. */
const maxReported = 8;

/** Faults that limit a store without stopping it, such as a missing right. */
export class Faults {
  readonly #reported = new Set<string>();
  readonly #listeners = new Set<(fault: string) => void>();

  /** Reports each text once. */
  report(fault: string): void {
    if (this.#reported.size >= maxReported || this.#reported.has(fault)) return;
    this.#reported.add(fault);
    for (const listener of this.#listeners) listener(fault);
  }

  /** Calls `listener` with earlier and later faults. */
  readonly watch = (listener: (fault: string) => void): void => {
    this.#listeners.add(listener);
    for (const fault of this.#reported) listener(fault);
  };
}
