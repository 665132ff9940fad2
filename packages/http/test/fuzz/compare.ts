import type { Case } from './case.ts';
import type { Contestant, Transcript } from './contestant.ts';
import { explain } from './explained.ts';

export interface Difference {
  case: Case;
  node: Transcript;
  redline: Transcript;
}

export interface Contestants {
  node: Contestant;
  redline: Contestant;
  /** `wire`: what a client sees, and which requests reach a handler with which body. `events`: all that handlers hear as well. */
  level: 'wire' | 'events';
}

/** What is due to the order of two sockets, and not to the server, differs from run to run. */
const repeats = 5;

/**
 * @returns the difference, when nothing that Node did in several runs is what the engine did in any, and no explained
 * difference covers it
 */
export async function compare(
  of: Case,
  { node, redline, level }: Contestants,
): Promise<Difference | undefined> {
  const [theirs, ours] = await Promise.all([node.run(of), redline.run(of)]);
  const keyOf = level === 'wire' ? onTheWire : JSON.stringify;
  if (keyOf(theirs) === keyOf(ours)) return undefined;
  const seen = { node: new Set([keyOf(theirs)]), redline: new Set([keyOf(ours)]) };
  for (let run = 1; run < repeats; run++) {
    seen.node.add(keyOf(await node.run(of)));
    seen.redline.add(keyOf(await redline.run(of)));
    if ([...seen.node].some((key) => seen.redline.has(key))) return undefined;
  }
  const difference = { case: of, node: theirs, redline: ours };
  return explain(difference) === undefined ? difference : undefined;
}

function onTheWire({ bytes, end, requests }: Transcript): string {
  const bodies = requests.map(({ request, steps }) => [
    request[0],
    steps.filter((step) => step.startsWith('body ')),
  ]);
  return JSON.stringify([bytes, end, bodies]);
}
