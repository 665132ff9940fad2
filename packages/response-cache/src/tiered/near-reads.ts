/** A pending read. It is a ticket: once it is void, a change has overtaken its result. */
export interface NearRead {
  readonly found: Promise<string | null>;
  isVoid: boolean;
}

/** The reads of Redis that fill the memory of this process, one for all callers of a key. */
export class NearReads {
  readonly #reads = new Map<string, NearRead>();

  of(key: string): NearRead | undefined {
    return this.#reads.get(key);
  }

  /** Starts a read; `fetch` sees in it when the result may no longer be kept. */
  start(key: string, fetch: (read: NearRead) => Promise<string | null>): NearRead {
    const read: { found?: Promise<string | null>; isVoid: boolean } = { isVoid: false };
    read.found = fetch(read as NearRead).finally(() => {
      if (this.#reads.get(key) === read) this.#reads.delete(key);
    });
    this.#reads.set(key, read as NearRead);
    return read as NearRead;
  }

  void(key: string): void {
    const read = this.#reads.get(key);
    if (read === undefined) return;
    read.isVoid = true;
    // Later callers start a new read.
    this.#reads.delete(key);
  }

  voidAll(): void {
    for (const key of this.#reads.keys()) this.void(key);
  }
}
