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

/**
 * The lists whose outcomes, one or several, differ from all of Node's in most recordings of the engine. Where an outcome of Node is
 * new in most runs, such as how many bytes each of two readers of one output gets, that of the engine may be new as often.
 */
export function reproduced(
  found: readonly Foreign[],
  recordings: number,
  node: readonly Recording[],
): Foreign[] {
  const times = new Map<string, number>();
  for (const one of found) times.set(one.list, (times.get(one.list) ?? 0) + one.times);
  return found.filter(({ list }) => {
    const share = times.get(list)! / recordings;
    return share > 1 / 2 && share > newShare(list, recordings, node);
  });
}

/* The probability that a run of Node has a new outcome is the share of those that came once (Good-Turing), plus two standard errors. */
function newShare(list: string, recordings: number, node: readonly Recording[]): number {
  if (node.length === 0) return 0;
  const once = [...count(list, node).values()].filter((times) => times === 1).length;
  const share = once / node.length;
  return share + 2 * Math.sqrt((share * (1 - share)) / recordings);
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
