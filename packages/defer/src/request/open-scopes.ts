/** Links of a scope in its list. */
export interface Linked<Item> {
  before: Item | undefined;
  after: Item | undefined;
  isListed: boolean;
}

/**
 * The open requests. A list whose links are in its items, not a Set: tables that a Set has outgrown stay in V8's old
 * generation until the next full collection, and everything they held is moved there too, including all of the request.
 */
export class OpenScopes<Item extends Linked<Item>> {
  #first: Item | undefined;
  #last: Item | undefined;

  get oldest(): Item | undefined {
    return this.#last;
  }

  add(item: Item): void {
    if (item.isListed) return;
    item.isListed = true;
    item.after = this.#first;
    if (this.#first === undefined) this.#last = item;
    else this.#first.before = item;
    this.#first = item;
  }

  remove(item: Item): void {
    if (!item.isListed) return;
    item.isListed = false;
    const { before, after } = item;
    if (before !== undefined) before.after = after;
    else this.#first = after;
    if (after !== undefined) after.before = before;
    else this.#last = before;
    // An item that was moved to the old generation would keep its neighbours.
    item.before = undefined;
    item.after = undefined;
  }

  /** Returns a copy: each item may be removed while it is visited. */
  all(): Item[] {
    const items: Item[] = [];
    for (let item = this.#first; item !== undefined; item = item.after) items.push(item);
    return items;
  }

  some(isSo: (item: Item) => boolean): boolean {
    for (let item = this.#first; item !== undefined; item = item.after) {
      if (isSo(item)) return true;
    }
    return false;
  }
}
