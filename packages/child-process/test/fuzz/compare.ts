/** What a program did: for each list that was kept of it, what the list held in the end. */
export type Recording = Readonly<Record<string, string>>;

/** Something the engine did that Node never did. */
export interface Foreign {
  readonly list: string;
  readonly outcome: string;
  /** In how many of the engine's recordings. */
  readonly times: number;
}

const NOTHING = 'no such list';

/**
 * What the engine's recordings hold and none of Node's does. The lists race with each other, so each is compared by
 * itself: Node need not have had all of one recording's lists at once.
 */
export function foreign(node: readonly Recording[], engine: readonly Recording[]): Foreign[] {
  const lists = new Set([...node, ...engine].flatMap((recording) => Object.keys(recording)));
  const found: Foreign[] = [];
  for (const list of lists) {
    const known = new Set(node.map((recording) => recording[list] ?? NOTHING));
    const counts = new Map<string, number>();
    for (const recording of engine) {
      const outcome = recording[list] ?? NOTHING;
      if (!known.has(outcome)) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    }
    for (const [outcome, times] of counts) found.push({ list, outcome, times });
  }
  return found;
}

/** The lists that are never Node's in most recordings: with several outcomes of their own, or one. */
export function reproduced(found: readonly Foreign[], recordings: number): Foreign[] {
  const times = new Map<string, number>();
  for (const one of found) times.set(one.list, (times.get(one.list) ?? 0) + one.times);
  return found.filter(({ list }) => times.get(list)! > recordings / 2);
}

/** How often each outcome of a list came. */
export function count(list: string, recordings: readonly Recording[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const recording of recordings) {
    const outcome = recording[list] ?? NOTHING;
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  return counts;
}
