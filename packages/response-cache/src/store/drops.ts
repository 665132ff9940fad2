/** Names of what was changed or deleted; undefined for everything. */
export type DropListener = (names: readonly string[] | undefined) => void;

/** How a store tells copies of its values outside of it, as those of the HTTP engine, what no longer holds. */
export interface Drops {
  /** False while changes may go unnoticed: what is read meanwhile may not be copied. */
  readonly isCoherent: boolean;
  /** How often the connection that reports changes was lost: all copies were dropped then. */
  readonly losses?: number;
  /** The names by which a change of the value under `key`, or of one of its tags, is told. */
  namesOf(key: string, tags: readonly string[]): string[];
  /** Calls `listener` with every change, before it is acknowledged, until the returned function is called. */
  watch(listener: DropListener): () => void;
}

/** Those who listen, mostly nobody. */
export class DropListeners {
  readonly #listeners = new Set<DropListener>();

  tell(names: readonly string[] | undefined): void {
    for (const listener of this.#listeners) listener(names);
  }

  readonly watch = (listener: DropListener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}
