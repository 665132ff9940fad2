import { type BenchResult, isMeasured } from '../../bench/result.ts';
import type { PlannedVariant } from '../../config/resolve-plan.ts';
import { LabError } from '../../errors.ts';
import { plural } from '../../report/format.ts';
import { defaultMargin } from '../../stats/verdict.ts';
import type { Tree } from '../../trees/trees.ts';
import { wordOf, worthADependency } from '../../try/verdict.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';
import { change, check, compare, variantIn, type Where } from './changed-tree.ts';

/** An edit costs nothing once it is made. */
export const worthAnEdit: number = 1 + defaultMargin;

export interface Proved {
  candidate: Candidate;
  proof: Proof;
}

export interface Change {
  candidate: Candidate;
  /** Of the app with it, in what is measured and in errors. */
  name: string;
}

/** A change in its tree, built and tested. */
export interface Made {
  candidate: Candidate;
  variant: PlannedVariant;
  /** Writes the files of the tree back. */
  restore: () => void;
}

/** Makes a change in a tree, builds and tests it: a proof already, where one of these fails. */
export async function make(
  { candidate, name }: Change,
  tree: Tree,
  where: Where,
): Promise<Made | Proved> {
  const restore = change([candidate], tree, where);
  try {
    await check('building and testing it', tree, where);
    return { candidate, variant: variantIn(tree, name, [candidate], where), restore };
  } catch (error) {
    restore();
    return { candidate, proof: failed(error, where) };
  }
}

/**
 * What each of them gains, from one run: they share the time that the app as it is takes to measure, so that each is started
 * more often than alone. One that does not start, or answers something else, ends the run of all: the halves are then
 * measured on their own, down to that one. One that fails under load is measured alone: the others may have taken the
 * connections that it needs.
 */
export async function* measureBeside(made: readonly Made[], where: Where): AsyncGenerator<Proved> {
  const title = `${plural(made.length, 'change')}, each beside the app as it is`;
  const seconds = where.options.secondsEach * made.length;
  const changed = made.map(({ variant }) => variant);
  const measured = (): Promise<BenchResult> => compare('bench', title, { changed, seconds, where });
  let last: BenchResult;
  try {
    last = await measured();
    // One run in twenty finds the app different from itself by chance.
    if (changed.some(({ name }) => wordOf(last, name) === 'withheld')) last = await measured();
  } catch (error) {
    const proof = failed(error, where);
    if (made.length === 1) return yield { candidate: made[0]!.candidate, proof };
    const half = Math.ceil(made.length / 2);
    yield* measureBeside(made.slice(0, half), where);
    return yield* measureBeside(made.slice(half), where);
  }
  const failing: Made[] = [];
  for (const each of made) {
    const { candidate, variant } = each;
    const worthwhile = candidate.preload === undefined ? worthAnEdit : worthADependency;
    const proof = proofIn(last, variant.name, worthwhile);
    if (proof.word === 'fails' && made.length > 1) failing.push(each);
    else yield { candidate, proof };
  }
  for (const each of failing) yield* measureBeside([each], where);
}

export function proofIn(bench: BenchResult, name: string, worthwhile: number): Proof {
  const variant = bench.variants.find((each) => each.name === name)!;
  if (!isMeasured(variant)) return { word: 'fails', why: `It ${variant.skipped}.` };
  const { cpuRatio: cpu, rpsRatio: rps } = variant;
  return { word: wordOf(bench, name, worthwhile), cpu, rps };
}

/** @throws an interruption, and every error that is not the fault of the change */
export function failed(error: unknown, { options }: Where): Proof {
  options.context.signal.throwIfAborted();
  if (!(error instanceof LabError)) throw error;
  // The advice to change a config does not apply here.
  return { word: 'fails', why: error.message.split(/\n| If that is intended, /, 1)[0]! };
}
