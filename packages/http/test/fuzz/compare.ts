import type { Case } from './case.ts';
import type { Contestant, Transcript } from './contestant.ts';
import { explanationsOf } from './explained.ts';
import { isAccountedFor } from './explained/accounted.ts';
import type { Difference } from './explained/difference.ts';

export interface Contestants {
  node: Contestant;
  redline: Contestant;
  /** `wire`: what a client sees, and which requests reach a handler with which body. `events`: all that handlers hear as well. */
  level: 'wire' | 'events';
}

/** What is due to the order of two sockets, and not to the server, differs from run to run. */
const repeats = 5;
/** The same of a difference that was found: what is rare among many at once has its chance alone. */
export const confirmations = 25;

/**
 * @returns the difference, when nothing that Node did in several runs is what the engine did in any, and no explained
 * difference covers it
 */
export async function compare(
  of: Case,
  { node, redline, level }: Contestants,
  runs: number = repeats,
): Promise<Difference | undefined> {
  const theirs = new Map<string, Transcript>();
  const ours = new Map<string, Transcript>();
  const keyOf = level === 'wire' ? onTheWire : JSON.stringify;
  const add = (transcript: Transcript, to: Map<string, Transcript>): void => {
    if (!transcript.isCutOff) to.set(keyOf(transcript), transcript);
  };
  for (let run = 0; run < runs; run++) {
    const [byNode, byRedline] = await Promise.all([node.run(of), redline.run(of)]);
    add(byNode, theirs);
    add(byRedline, ours);
    for (const key of theirs.keys()) if (ours.has(key)) return undefined;
  }
  for (const byNode of theirs.values()) {
    for (const byRedline of ours.values()) {
      const difference = { case: of, node: byNode, redline: byRedline };
      if (await isExplained(difference, node, runs)) return undefined;
    }
  }
  const [[byNode], [byRedline]] = [[...theirs.values()], [...ours.values()]];
  // Every run of one of them was cut off: nothing is known.
  if (byNode === undefined || byRedline === undefined) return undefined;
  return { case: of, node: byNode, redline: byRedline };
}

async function isExplained(
  difference: Difference,
  node: Contestant,
  runs: number,
): Promise<boolean> {
  for (const { remedies } of explanationsOf(difference)) {
    // A remedy may change more than it should. Then the engine has sent nothing at least that no handler wrote.
    if (remedies === undefined || isAccountedFor(difference)) return true;
    for (const remedied of remedies(difference)) {
      for (let run = 0; run < runs; run++) {
        const byNode = await node.run(remedied);
        if (isTheSame(byNode, difference.redline)) return true;
        // Cases may have two reasons to differ. One of them has to tell it all.
        const left = explanationsOf({ case: remedied, node: byNode, redline: difference.redline });
        if (left.some((other) => other.remedies === undefined)) return true;
      }
    }
  }
  return false;
}

function isTheSame(node: Transcript, redline: Transcript): boolean {
  return node.bytes === redline.bytes && node.end === redline.end;
}

function onTheWire({ bytes, end, requests }: Transcript): string {
  const bodies = requests.map(({ request, steps }) => [
    request[0],
    steps.filter((step) => step.startsWith('body ')),
  ]);
  return JSON.stringify([bytes, end, bodies]);
}
