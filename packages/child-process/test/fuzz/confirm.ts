import { foreign, reproduced, type Foreign, type Recording } from './compare.ts';
import type { Program } from './program.ts';
import { record } from './record.ts';

/** How many recordings of Node's an outcome is looked for in, and how many where the engine has it most of the time. */
export interface Patience {
  readonly enough: number;
  readonly most: number;
  /** Gives up once it returns true: the recordings under way are the last. @default never */
  readonly isLate?: () => boolean;
}

const PATIENCE: Patience = { enough: 20, most: 60 };
const never = (): boolean => false;
/** Run side by side, programs disturb each other, and show more of what they can do. */
const AT_ONCE = [1, 1, 2, 4] as const;
const AT_MOST_ONCE = 6;
/** Of a program that is over on neither engine in time. */
const ATTEMPTS = 40;

export interface Engines {
  readonly node: string;
  readonly redline: string;
}

/** What the engine did with a program and Node did not. */
export interface Difference {
  readonly program: Program;
  readonly found: readonly Foreign[];
  readonly node: readonly Recording[];
  readonly redline: readonly Recording[];
}

/**
 * - `same`: whatever the engine does, Node does too, not each time perhaps.
 * - `rare`: the engine did something that Node never did, and does not do it as a rule.
 * - `unknown`: the machine is too slow for this program, or it was late before the verdict.
 */
export type Verdict = 'same' | 'rare' | 'unknown' | Difference;

/** Runs a program again and again on both engines, for a difference may be chance. */
export async function confirm(
  program: Program,
  engines: Engines,
  folder: string,
  seen: { readonly node: readonly Recording[]; readonly redline: readonly Recording[] },
  { enough, most, isLate = never }: Patience = PATIENCE,
): Promise<Verdict> {
  const node = [...seen.node];
  const redline = [...seen.redline];
  const repeat = async (engine: string, into: Recording[]): Promise<void> => {
    const recording = (await record(engine, [program], folder)).get(program.seed);
    if (recording) into.push(recording);
    // A crash is an outcome too, and so is a process that hangs.
    else if (recording === undefined) into.push({ process: 'said nothing' });
  };
  const usual = () => reproduced(foreign(node, redline), redline.length, node);
  for (let attempts = 0, round = 0; node.length < enough || redline.length < enough; round++) {
    if (attempts >= ATTEMPTS || isLate()) return 'unknown';
    const atOnce = AT_ONCE[round % AT_ONCE.length]!;
    attempts += atOnce;
    await Promise.all(
      Array.from({ length: atOnce }, () => [
        repeat(engines.node, node),
        repeat(engines.redline, redline),
      ]).flat(),
    );
    if (node.length > 0 && redline.length > 0 && foreign(node, redline).length === 0) return 'same';
  }
  // Not all of them bring a recording.
  for (let tries = 0; node.length < most && tries < most; tries += AT_MOST_ONCE) {
    if (usual().length === 0) break;
    if (isLate()) return 'unknown';
    await Promise.all(Array.from({ length: AT_MOST_ONCE }, () => repeat(engines.node, node)));
  }
  const patience = { enough, most, isLate };
  const known = [
    ...(await alone(program, usual(), engines, folder, patience)),
    ...(usual().length === 0 ? [] : await busy(program, engines, folder, patience)),
  ];
  if (isLate() && usual().length > 0) return 'unknown';
  const found = reproduced(
    usual().filter(({ list, outcome }) => !known.some((recording) => recording[list] === outcome)),
    redline.length,
    node,
  );
  if (found.length > 0) return { program, found, node, redline };
  return foreign(node, redline).length === 0 ? 'same' : 'rare';
}

/**
 * Node's recordings with an event loop that gets the end of a child and that of its outputs together. The engine's thread waits for
 * both, and on a busy machine it reports them together to a loop that is not.
 */
async function busy(
  program: Program,
  engines: Engines,
  folder: string,
  { enough, isLate = never }: Patience,
): Promise<Recording[]> {
  const recordings: Recording[] = [];
  for (let run = 0; run < enough && !isLate(); run++) {
    const recording = (await record(engines.node, [program], folder, 'busy')).get(program.seed);
    if (recording) recordings.push(recording);
  }
  return recordings;
}

/**
 * What Node does with the children that differ when they are alone. It forks on its thread: while it starts the next child it
 * hears nothing of the one before, and then everything at once.
 */
async function alone(
  { seed, isAlone, children }: Program,
  found: readonly Foreign[],
  engines: Engines,
  folder: string,
  { enough, isLate = never }: Patience,
): Promise<Recording[]> {
  const recordings: Recording[] = [];
  if (children.length === 1) return recordings;
  const differing = new Set(found.map(({ list }) => Number.parseInt(list, 10)));
  for (const [index, child] of children.entries()) {
    if (!differing.has(index)) continue;
    const program = { seed, isAlone, children: [child] };
    for (let run = 0; run < enough && !isLate(); run++) {
      const recording = (await record(engines.node, [program], folder)).get(seed) ?? {};
      const lists = Object.entries(recording);
      recordings.push(
        Object.fromEntries(
          lists.map(([list, outcome]) => [list.replace(/^0/, `${index}`), outcome]),
        ),
      );
    }
  }
  return recordings;
}
