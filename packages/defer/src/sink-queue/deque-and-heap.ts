/** A ring buffer: items are taken from the front and added at both ends. */
export class Deque<T> {
  #ring: (T | undefined)[] = Array.from({ length: 64 });
  #first = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[(this.#first + this.#length++) & (this.#ring.length - 1)] = item;
  }

  unshift(item: T): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#first = (this.#first - 1) & (this.#ring.length - 1);
    this.#ring[this.#first] = item;
    this.#length++;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#ring[this.#first];
    this.#ring[this.#first] = undefined;
    this.#first = (this.#first + 1) & (this.#ring.length - 1);
    this.#length--;
    // A burst must not occupy memory forever.
    if (this.#length === 0 && this.#ring.length > 4_096) {
      this.#ring = Array.from({ length: 64 });
      this.#first = 0;
    }
    return item;
  }

  peek(): T | undefined {
    return this.#ring[this.#first];
  }

  *[Symbol.iterator](): Generator<T> {
    for (let at = 0; at < this.#length; at++) {
      yield this.#ring[(this.#first + at) & (this.#ring.length - 1)]!;
    }
  }

  #grow(): void {
    const ring: (T | undefined)[] = Array.from({ length: this.#ring.length * 2 });
    for (let at = 0; at < this.#length; at++) {
      ring[at] = this.#ring[(this.#first + at) & (this.#ring.length - 1)];
    }
    this.#ring = ring;
    this.#first = 0;
  }
}

/** Jobs that wait for their next attempt, the earliest first. */
export class DueHeap<T extends { readonly dueAtMs: number }> {
  readonly #items: T[] = [];

  get length(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (items[parent]!.dueAtMs <= item.dueAtMs) break;
      items[at] = items[parent]!;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && items[child + 1]!.dueAtMs < items[child]!.dueAtMs) child++;
      if (items[child]!.dueAtMs >= last.dueAtMs) break;
      items[at] = items[child]!;
      at = child;
    }
    items[at] = last;
    return first;
  }

  /** Removes all others. */
  keep(isMeant: (item: T) => boolean): void {
    // A sorted array is a heap.
    const kept = this.#items.filter(isMeant).sort((a, b) => a.dueAtMs - b.dueAtMs);
    this.#items.length = 0;
    for (const item of kept) this.#items.push(item);
  }

  *[Symbol.iterator](): Generator<T> {
    yield* this.#items;
  }
}
