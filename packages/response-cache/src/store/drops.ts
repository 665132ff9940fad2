/** Called with the names of changed or deleted values; with undefined for everything. */
export type DropListener = (names: readonly string[] | undefined) => void;

/** Reports of a store to copies of its values outside of it, such as those of the HTTP engine, about values that no longer hold. */
export interface Drops {
  /** False while changes may go unnoticed: values that are read meanwhile may not be copied. */
  readonly isCoherent: boolean;
  /** Number of times the connection that reports changes was lost: all copies were dropped then. */
  readonly losses?: number;
  /** Returns the names by which a change of the value under `key`, or of one of its tags, is reported. */
  namesOf(key: string, tags: readonly string[]): string[];
  /** Calls `listener` with every change, before it is acknowledged, until the returned function is called. */
  watch(listener: DropListener): () => void;
}

/** The listeners of a store, usually none. */
export class DropListeners {
  readonly #listeners = new Set<DropListener>();

  notify(names: readonly string[] | undefined): void {
    for (const listener of this.#listeners) listener(names);
  }

  readonly watch = (listener: DropListener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
