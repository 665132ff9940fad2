export class Cache {
  #entries = new Map();

  getOrMake(key, make) {
    const known = this.#entries.get(key);
    if (known !== undefined) return known.value;
    const value = make();
    this.#entries.set(key, { value, at: Date.now() }); // leaks here
    return value;
  }
}
