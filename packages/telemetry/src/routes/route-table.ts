/** Writes a route's name to a ring; returns false if the ring is full. */
export type RouteWriter = (number: number, pattern: string) => boolean;

const MAX_ROUTES = 2_000;
const MAX_LENGTH = 1_024;

/** The numbers of the routes of this thread, and the rings that hold their names. */
export class RouteTable {
  readonly #numbers = new Map<string, number>();
  readonly #writers: RouteWriter[] = [];

  /** Adds a ring, whose records may name a route from now on. */
  addWriter(write: RouteWriter): void {
    this.#writers.push(write);
    for (const [pattern, number] of this.#numbers) write(number, pattern);
  }

  /** Returns the number of a route; 0 if there are too many of them, or if a ring is full now. */
  numberOf(pattern: string): number {
    const known = this.#numbers.get(pattern);
    if (known !== undefined) return known;
    if (this.#numbers.size >= MAX_ROUTES || pattern === '' || pattern.length > MAX_LENGTH) return 0;
    const number = this.#numbers.size + 1;
    if (!this.#writers.every((write) => write(number, pattern))) return 0;
    this.#numbers.set(pattern, number);
    return number;
  }

  /** Returns the name of a number. */
  patternOf(number: number): string | undefined {
    for (const [pattern, each] of this.#numbers) if (each === number) return pattern;
    return undefined;
  }
}
