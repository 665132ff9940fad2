/** Counts the arrivals of each job. */
export class Times {
  readonly all = new Map<string, number>();

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.add(id);
  }

  add(id: string): void {
    this.all.set(id, (this.all.get(id) ?? 0) + 1);
  }
}
