/** Follows each field. Neither an id, nor a number, nor JSON, which escapes it, contains this character. */
const fieldEnd = '\x1e';

/**
 * Packs id, time and data of many jobs into one argument of a script. An argument for each field costs the client a string
 * for its length and three more to assemble the command, which is most of what a job then costs it.
 */
export class PackedRecords {
  readonly #fields: (string | number)[] = [];

  add(id: string, deferredAtMs: number, json: string): void {
    this.#fields.push(id, deferredAtMs, json);
  }

  toString(): string {
    return this.#fields.join(fieldEnd) + fieldEnd;
  }
}

/** Lua that reads `id`, `time` and `data` of the next record of `text` from `from` on, and moves `from` past it. */
export const nextRecord: string = `
    local first = find(text, '\\30', from, true)
    local second = find(text, '\\30', first + 1, true)
    local third = find(text, '\\30', second + 1, true)
    local id, time, data = sub(text, from, first - 1), sub(text, first + 1, second - 1), sub(text, second + 1, third - 1)
    from = third + 1`;
