import { type BenchResult, isMeasured, type MeasuredVariant } from '../../bench/result.ts';
import { isWaiting } from '../../bench/waiting-words.ts';
import type { PlannedVariant } from '../../config/resolve-plan.ts';
import { LabError } from '../../errors.ts';
import { plural } from '../../report/format.ts';
import { defaultMargin } from '../../stats/verdict.ts';
import type { Tree } from '../../trees/trees.ts';
import { minGainForDependency, verdictOf } from '../../try/verdict.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';
import { change, check, compare, variantIn, type Where } from './changed-tree.ts';

/** An edit has no cost once made. */
export const minGainForEdit: number = 1 + defaultMargin;

/** A server that is busier does not wait: its responses queue for the core. */
const busyServer = 0.95;

export interface Proved {
  candidate: Candidate;
  proof: Proof;
}

export interface Change {
  candidate: Candidate;
  /** Name of the app with the change, in measurements and in errors. */
  name: string;
}

/** A change in its tree, built and tested. */
export interface AppliedChange {
  candidate: Candidate;
  variant: PlannedVariant;
  /** Restores the files of the tree. */
  restore: () => void;
}

/** Makes a change in a tree, builds and tests it; returns a failed proof if one of these fails. */
export async function applyChange(
  { candidate, name }: Change,
  tree: Tree,
  where: Where,
): Promise<AppliedChange | Proved> {
  const restore = change([candidate], tree, where);
  try {
    await check('building and testing it', tree, where);
    return { candidate, variant: variantIn(tree, name, [candidate], where), restore };
  } catch (error) {
    restore();
    return { candidate, proof: failedProof(error, where) };
  }
}

/**
 * Measures the gain of each change in one run: they share the time it takes to measure the unchanged app, so that each is started
 * more often than alone. If one does not start, or responds differently, the whole run ends: the halves are then measured
 * separately, down to that change. One that fails under load is measured alone: the others may have used up the connections it
 * needs.
 */
export async function* measureTogether(
  made: readonly AppliedChange[],
  where: Where,
): AsyncGenerator<Proved> {
  const title = `${plural(made.length, 'change')}, each beside the app as it is`;
  const seconds = where.options.secondsEach * made.length;
  const changed = made.map(({ variant }) => variant);
  const measured = (): Promise<BenchResult> => compare('bench', title, { changed, seconds, where });
  let last: BenchResult;
  try {
    last = await measured();
    // One run in twenty finds the app different from itself by chance.
    if (changed.some(({ name }) => verdictOf(last, name) === 'withheld')) last = await measured();
  } catch (error) {
    const proof = failedProof(error, where);
    if (made.length === 1) return yield { candidate: made[0]!.candidate, proof };
    const half = Math.ceil(made.length / 2);
    yield* measureTogether(made.slice(0, half), where);
    return yield* measureTogether(made.slice(half), where);
  }
  const failing: AppliedChange[] = [];
  for (const each of made) {
    const { candidate, variant } = each;
    const worthwhile = candidate.preload === undefined ? minGainForEdit : minGainForDependency;
    const proof = proofIn(last, variant.name, worthwhile);
    if (proof.word === 'fails' && made.length > 1) failing.push(each);
    else yield { candidate, proof };
  }
  for (const each of failing) yield* measureTogether([each], where);
}

export function proofIn(bench: BenchResult, name: string, worthwhile: number): Proof {
  const variant = bench.variants.find((each) => each.name === name)!;
  if (!isMeasured(variant)) return { word: 'fails', why: `It ${variant.skipped}.` };
  const { cpuRatio: cpu, rpsRatio: rps } = variant;
  const responseMs = responseTimes(bench, variant);
  return {
    word: verdictOf(bench, name, worthwhile),
    cpu,
    rps,
    ...(responseMs === undefined ? {} : { responseMs }),
  };
}

/** A closed loop has a response on its way on each connection: their time follows from their rate. */
function responseTimes(
  { load: { connections }, variants: [base] }: BenchResult,
  changed: MeasuredVariant,
): Proof['responseMs'] {
  if (base === undefined || !isMeasured(base)) return undefined;
  const [before, after] = [base, changed].map(({ rps }) => (connections / rps) * 1_000) as [
    number,
    number,
  ];
  return base.serverBusy < busyServer && isWaiting(before, base.cpuMicrosPerRequest)
    ? { before, after }
    : undefined;
}

/** @throws on abort, and for every error that the change did not cause */
export function failedProof(error: unknown, { options }: Where): Proof {
  options.context.signal.throwIfAborted();
  if (!(error instanceof LabError)) throw error;
  // The advice to change a config does not apply here.
  return { word: 'fails', why: error.message.split(/\n| If that is intended, /, 1)[0]! };
}
