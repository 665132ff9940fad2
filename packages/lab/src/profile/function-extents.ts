import { type Place, scriptOf } from './v8-log.ts';

interface Extent<Item> {
  item: Item;
  /** Characters from the start of the script. */
  start: number;
  end: number;
}

/** Finds the function that a place in the source belongs to: the innermost around it. */
export class FunctionExtents<Item> {
  /** Offset of each line, by script. */
  readonly #lines = new Map<string, readonly number[]>();
  readonly #extents = new Map<string, Extent<Item>[]>();
  readonly #unsorted = new Set<string>();

  addScript(url: string, lineStarts: readonly number[]): void {
    this.#lines.set(scriptOf(url), lineStarts);
  }

  add(item: Item, url: string, start: number, end: number): void {
    const script = scriptOf(url);
    const extents = this.#extents.get(script);
    if (extents === undefined) this.#extents.set(script, [{ item, start, end }]);
    else extents.push({ item, start, end });
    this.#unsorted.add(script);
  }

  at({ url, line, column }: Place): Item | undefined {
    const script = scriptOf(url);
    const lineStart = this.#lines.get(script)?.[line - 1];
    const extents = this.#sorted(script);
    if (lineStart === undefined || extents === undefined) return undefined;
    const offset = lineStart + column - 1;
    return extents.findLast(({ start, end }) => start <= offset && offset < end)?.item;
  }

  #sorted(script: string): Extent<Item>[] | undefined {
    const extents = this.#extents.get(script);
    // Of two that begin at one place the shorter lies within the longer.
    if (this.#unsorted.delete(script)) extents?.sort((a, b) => a.start - b.start || b.end - a.end);
    return extents;
  }
}
