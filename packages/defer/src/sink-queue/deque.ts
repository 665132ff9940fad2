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
