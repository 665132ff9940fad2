/** What a scope keeps for the list it is in. */
export interface Linked<Item> {
  before: Item | undefined;
  after: Item | undefined;
}

/**
 * The requests that have jobs and have not ended. A list whose links are in its items, and not a Set: tables that a Set
 * has outgrown stay in V8's old generation until the next full collection, and whatever they held is moved there too,
 * all of the request with it.
 */
export class OpenScopes<Item extends Linked<Item>> {
  #first: Item | undefined;

  add(item: Item): void {
    item.after = this.#first;
    if (this.#first !== undefined) this.#first.before = item;
    this.#first = item;
  }

  remove(item: Item): void {
    const { before, after } = item;
    if (before !== undefined) before.after = after;
    else this.#first = after;
    if (after !== undefined) after.before = before;
    // One that was moved to the old generation would keep its neighbours.
    item.before = undefined;
    item.after = undefined;
  }

  /** Those that are there now: each may be removed while it is looked at. */
  all(): Item[] {
    const items: Item[] = [];
    for (let item = this.#first; item !== undefined; item = item.after) items.push(item);
    return items;
  }
}
