import type { JobPlace, Journal } from '../journal/journal.ts';

const minCapacity = 64;

/**
 * Jobs that wait on disk for their time, the earliest first: 26 bytes for each, outside V8's heap. A million of them
 * do not burden the collector.
 */
export class DueOnDisk {
  #dueAtMs = new Float64Array(minCapacity);
  #numbers = new Float64Array(minCapacity);
  #offsets = new Float64Array(minCapacity);
  #places = new Uint16Array(minCapacity);
  #length = 0;
  /** Jobs in the heap that are no longer needed: each is found when its time has come. */
  #obsolete = 0;
  /** Slots of finished journals are reused. */
  readonly #journals: (Journal | undefined)[] = [];

  get length(): number {
    return this.#length - this.#obsolete;
  }

  /** Called when one of the jobs is no longer needed, as its journal records. */
  giveUp(): void {
    this.#obsolete++;
  }

  get nextDueAtMs(): number | undefined {
    return this.#length === 0 ? undefined : this.#dueAtMs[0];
  }

  push({ journal, number, offset }: JobPlace, dueAtMs: number): void {
    if (this.#length === this.#dueAtMs.length) this.#resize(this.#length * 2);
    const slot = this.#slotOf(journal);
    let at = this.#length++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(dueAtMs, number, parent)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, dueAtMs, number, offset, slot);
  }

  /** Removes the earliest. Returns undefined if its journal no longer has it. */
  pop(): JobPlace | undefined {
    const journal = this.#journals[this.#places[0]!];
    const place = journal?.placeOf(this.#numbers[0]!, this.#offsets[0]!);
    this.#length--;
    this.#sink(this.#length);
    if (place === undefined && this.#obsolete > 0) this.#obsolete--;
    const size = this.#dueAtMs.length;
    // A burst must not occupy memory forever.
    if (size > minCapacity && this.#length < size / 4) this.#resize(size / 2);
    return place;
  }

  /** Called when the journal is finished. */
  detach(journal: Journal): void {
    const slot = this.#journals.indexOf(journal);
    if (slot !== -1 && !this.#uses(slot)) this.#journals[slot] = undefined;
  }

  /* Moves the last item, at `from`, from the top down to its place. */
  #sink(from: number): void {
    const dueAtMs = this.#dueAtMs[from]!;
    const number = this.#numbers[from]!;
    const offset = this.#offsets[from]!;
    const slot = this.#places[from]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#length) break;
      const next = child + 1;
      if (
        next < this.#length &&
        this.#isBefore(this.#dueAtMs[next]!, this.#numbers[next]!, child)
      ) {
        child = next;
      }
      if (!this.#isBefore(this.#dueAtMs[child]!, this.#numbers[child]!, from)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, dueAtMs, number, offset, slot);
  }

  #isBefore(dueAtMs: number, number: number, at: number): boolean {
    const other = this.#dueAtMs[at]!;
    return dueAtMs < other || (dueAtMs === other && number < this.#numbers[at]!);
  }

  #move(from: number, to: number): void {
    const due = this.#dueAtMs[from]!;
    this.#set(to, due, this.#numbers[from]!, this.#offsets[from]!, this.#places[from]!);
  }

  #set(at: number, dueAtMs: number, number: number, offset: number, slot: number): void {
    this.#dueAtMs[at] = dueAtMs;
    this.#numbers[at] = number;
    this.#offsets[at] = offset;
    this.#places[at] = slot;
  }

  #slotOf(journal: Journal): number {
    const known = this.#journals.indexOf(journal);
    if (known !== -1) return known;
    const free = this.#journals.indexOf(undefined);
    if (free === -1) return this.#journals.push(journal) - 1;
    this.#journals[free] = journal;
    return free;
  }

  #uses(slot: number): boolean {
    return this.#places.subarray(0, this.#length).includes(slot);
  }

  #resize(size: number): void {
    this.#dueAtMs = resized(this.#dueAtMs, new Float64Array(size));
    this.#numbers = resized(this.#numbers, new Float64Array(size));
    this.#offsets = resized(this.#offsets, new Float64Array(size));
    this.#places = resized(this.#places, new Uint16Array(size));
  }
}

function resized<T extends Float64Array | Uint16Array>(from: T, to: T): T {
  to.set(from.subarray(0, to.length));
  return to;
}
