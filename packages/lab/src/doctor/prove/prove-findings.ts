import type { BenchResult } from '../../bench/result.ts';
import { measuredRows } from '../../bench/report/rows.ts';
import { LabError } from '../../errors.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { runToEnd } from '../../system/run-to-end.ts';
import { Trees } from '../../trees/trees.ts';
import type { TryTarget } from '../../try/target.ts';
import { defaultMargin } from '../../stats/verdict.ts';
import { wordOf, worthADependency } from '../../try/verdict.ts';
import type { Edit } from '../edits.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';
import {
  apply,
  change,
  check,
  compare,
  isSame,
  type ProveOptions,
  variantIn,
  type Where,
} from './changed-tree.ts';
import type { EarlierProofs } from './earlier-proofs.ts';
import { measureLadder } from './ladder.ts';
import { placeOf, ProveLog } from './prove-log.ts';

const changed = 'changed';
/** An edit costs nothing once it is made. */
const worthAnEdit = 1 + defaultMargin;

export interface Proved {
  candidate: Candidate;
  proof: Proof;
}

export interface AllProved {
  each: Proved[];
  /** The changes that gained, as far as they do not touch the same text, and what they gain together. */
  kept: readonly Candidate[];
  together: Proof | undefined;
  /** Where there is more than one of them: each on top of those before it. */
  ladder?: BenchResult;
}

/**
 * Makes each change in a worktree, runs the tests, and measures it beside a worktree without it. The user's tree is not touched.
 * @throws {LabError} ERR_REDLINE_GIT where the tree is dirty, ERR_REDLINE_COMMAND where it cannot be built or its tests fail as it is
 */
export async function proveFindings(
  candidates: readonly Candidate[],
  target: TryTarget,
  options: ProveOptions,
  proofs: EarlierProofs,
): Promise<AllProved> {
  const { test, context } = options;
  await using trees = await prepare(target, options);
  const where = { target, options, trees };
  if (test !== undefined) {
    using line = new PhaseLine('prove');
    line.show('running the tests as it is');
    const cwd = trees.inTree(trees.present, target.app.cwd);
    await runToEnd(test, { asked: 'As it is, --test', cwd, signal: context.signal });
  }
  const log = new ProveLog(candidates, proofs, options.secondsEach);
  const each: Proved[] = [];
  for (const [index, candidate] of candidates.entries()) {
    let proof = proofs.of(candidate);
    if (proof === undefined) {
      proofs.begin(candidate);
      const name = `change ${index + 1} of ${candidates.length}, ${placeOf(candidate)}`;
      proof = await log.attempt(index, candidate, () => proofOf(name, candidate, where));
      proofs.add(candidate, proof);
    }
    each.push({ candidate, proof });
  }
  const gaining = each.filter(({ proof }) => proof.word === 'gains');
  const kept = withoutOverlap(gaining.map(({ candidate }) => candidate));
  if (kept.length < 2) return { each, kept, together: gaining[0]?.proof };
  log.ladder(kept.length);
  return { each, kept, ...(await climb(kept, where)) };
}

async function prepare(target: TryTarget, { build, context }: ProveOptions): Promise<Trees> {
  using line = new PhaseLine('prove');
  return await Trees.prepare({
    folder: target.app.cwd,
    base: 'HEAD',
    build,
    signal: context.signal,
    phase: (text) => line.show(text),
  });
}

/** What one change gains. */
async function proofOf(name: string, candidate: Candidate, where: Where): Promise<Proof> {
  const { trees, options } = where;
  const restore = change([candidate], trees.present, where);
  try {
    await check('building and testing it', trees.present, where);
    const only = variantIn(trees.present, changed, [candidate], where);
    const measured = async (): Promise<Proof> =>
      proofIn(
        await compare('bench', name, { changed: [only], seconds: options.secondsEach, where }),
        changed,
        candidate.preload === undefined ? worthAnEdit : worthADependency,
      );
    const proof = await measured();
    // One run in twenty finds the app different from itself by chance.
    return proof.word === 'withheld' ? await measured() : proof;
  } catch (error) {
    return failed(error, where);
  } finally {
    restore();
  }
}

/** The changes that gained as a ladder: its last rung has them all, which is what they gain together. */
async function climb(
  kept: readonly Candidate[],
  where: Where,
): Promise<Pick<AllProved, 'together' | 'ladder'>> {
  try {
    const ladder = await measureLadder(kept, where);
    return { together: proofIn(ladder, ladder.variants.at(-1)!.name, worthAnEdit), ladder };
  } catch (error) {
    return { together: failed(error, where) };
  }
}

/** @throws an interruption, and every error that is not the fault of the change */
function failed(error: unknown, { options }: Where): Proof {
  options.context.signal.throwIfAborted();
  if (!(error instanceof LabError)) throw error;
  // The advice to change a config does not apply here.
  return { word: 'fails', why: error.message.split(/\n| If that is intended, /, 1)[0]! };
}

/** Writes changes where they are proposed. */
export function fix(candidates: readonly Candidate[]): void {
  apply(
    candidates.flatMap(({ edits }) => edits),
    (path) => path,
  );
}

function proofIn(bench: BenchResult, name: string, worthwhile: number): Proof {
  const word = wordOf(bench, name, worthwhile);
  const row = measuredRows(bench).find((each) => each.name === name);
  if (row === undefined) return { word: 'fails', why: 'It did not run under the load.' };
  return { word, cpu: row.variant.cpuRatio, rps: row.variant.rpsRatio };
}

/** The first of those that touch the same text stays. */
function withoutOverlap(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    const others = kept.flatMap(({ edits }) => edits);
    const isFree = candidate.edits.every((one) => others.every((other) => !overlap(one, other)));
    if (isFree) kept.push(candidate);
  }
  return kept;
}

/** What puts in the same text at the same place, such as an import, does so once. */
function overlap(one: Edit, other: Edit): boolean {
  if (one.file.path !== other.file.path || isSame(one, other)) return false;
  return one.start < other.end && other.start < one.end;
}
