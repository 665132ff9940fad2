import { readFileSync } from 'node:fs';
import type { BenchResult } from '../../bench/result.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { runToEnd } from '../../system/run-to-end.ts';
import { Trees } from '../../trees/trees.ts';
import type { TryTarget } from '../../try/target.ts';
import type { Edit } from '../edits.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';
import { changeNames } from './change-names.ts';
import { apply, isSame, type ProveOptions, treeAt, type Where } from './changed-tree.ts';
import type { EarlierProofs } from './earlier-proofs.ts';
import { measureLadder } from './ladder.ts';
import {
  type Change,
  failed,
  make,
  type Made,
  measureBeside,
  proofIn,
  type Proved,
  worthAnEdit,
} from './measure-beside.ts';
import { ProveLog } from './prove-log.ts';

/** Each is a server with its own connections to whatever the app uses, and what a restart takes grows with them. */
const mostBeside = 6;

export interface AllProved {
  each: Proved[];
  /** The changes that gained, as far as they do not touch the same text, and what they gain together. */
  kept: readonly Candidate[];
  together: Proof | undefined;
  /** Where there is more than one of them: each on top of those before it. */
  ladder?: BenchResult;
}

/**
 * Makes each change in a worktree of its own, runs the tests, and measures a few at a time beside the app as it is. The user's
 * tree is not touched.
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
  const where: Where = { target, options, trees, changing: [trees.present] };
  if (test !== undefined) {
    using line = new PhaseLine('prove');
    line.show('running the tests as it is');
    const cwd = trees.inTree(trees.present, target.app.cwd);
    await runToEnd(test, { asked: 'As it is, --test', cwd, signal: context.signal });
  }
  const log = new ProveLog(candidates, proofs, options.secondsEach);
  const found = new Map(candidates.map((each) => [each, proofs.of(each)]));
  const names = changeNames(candidates);
  const toTry = candidates
    .map((candidate, index) => ({ candidate, name: names[index]! }))
    .filter(({ candidate }) => found.get(candidate) === undefined);
  for await (const { candidate, proof } of tryChanges(toTry, where, { proofs, log })) {
    found.set(candidate, proof);
    proofs.add(candidate, proof);
    log.done(candidate, proof);
  }
  const each = candidates.map((candidate) => ({ candidate, proof: found.get(candidate)! }));
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

/** A few at a time: makes each in a tree of its own, and measures them beside each other. */
async function* tryChanges(
  changes: readonly Change[],
  where: Where,
  { proofs, log }: { proofs: EarlierProofs; log: ProveLog },
): AsyncGenerator<Proved> {
  const left = [...changes];
  let most = mostBeside;
  while (left.length > 0) {
    const wanted = Math.ceil(left.length / Math.ceil(left.length / most));
    const beside: Made[] = [];
    while (beside.length < wanted && left.length > 0) {
      const tree = await treeAt(beside.length, where).catch((error: unknown) => {
        where.options.context.signal.throwIfAborted();
        if (beside.length === 0) throw error;
        // The disk may be too small for so many.
        most = beside.length;
        log.limited(most, error as Error);
      });
      if (tree === undefined) break;
      const next = left.shift()!;
      proofs.begin(next.candidate);
      log.begin(next.candidate);
      const made = await make(next, tree, where);
      if ('proof' in made) yield made;
      else beside.push(made);
    }
    if (beside.length === 0) continue;
    log.measure(beside.length);
    yield* measureBeside(beside, where);
    for (const { restore } of beside) restore();
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

/**
 * Writes changes where they are proposed, all or none.
 * @returns a file that was changed meanwhile; then nothing is written
 */
export function fix(candidates: readonly Candidate[]): string | undefined {
  const edits = candidates.flatMap((each) => each.edits);
  const other = edits.find(({ file }) => readFileSync(file.path, 'utf8') !== file.text);
  if (other === undefined) apply(edits, (path) => path);
  return other?.file.name;
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
