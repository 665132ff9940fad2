import { readFileSync } from 'node:fs';
import type { BenchResult } from '../../bench/result.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { runToEnd } from '../../system/run-to-end.ts';
import { Trees } from '../../trees/trees.ts';
import type { TryTarget } from '../../try/target.ts';
import type { Edit } from '../edits.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';
import { changeNames, measureLadder } from './ladder.ts';
import { apply, isSame, type ProveOptions, treeAt, type Where } from './changed-tree.ts';
import type { EarlierProofs } from './earlier-proofs.ts';
import {
  type AppliedChange,
  applyChange,
  type Change,
  failedProof,
  measureTogether,
  minGainForEdit,
  proofIn,
  type Proved,
} from './measure-together.ts';
import { ProveLog } from './prove-log.ts';

/**
 * Max number of changes measured together: each is a server with its own connections to the app's services, and the duration of a
 * restart grows with them.
 */
const maxTogether = 6;

export interface ProofResults {
  each: Proved[];
  /** Changes that gained, unless they edit the same text, and their joint gain. */
  kept: readonly Candidate[];
  together: Proof | undefined;
  /** Set for more than one change: each on top of the previous ones. */
  ladder?: BenchResult;
}

/**
 * Makes each change in its own worktree, runs the tests, and measures a few at a time against the unchanged app. The user's tree is
 * not touched.
 * @throws {LabError} ERR_REDLINE_GIT if the tree is dirty, ERR_REDLINE_COMMAND if the unchanged tree cannot be built or its tests
 * fail
 */
export async function proveFindings(
  candidates: readonly Candidate[],
  target: TryTarget,
  options: ProveOptions,
  proofs: EarlierProofs,
): Promise<ProofResults> {
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
  return { each, kept, ...(await measureJointGain(kept, where)) };
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

/** Makes a few changes at a time, each in its own tree, and measures them together. */
async function* tryChanges(
  changes: readonly Change[],
  where: Where,
  { proofs, log }: { proofs: EarlierProofs; log: ProveLog },
): AsyncGenerator<Proved> {
  const left = [...changes];
  let limit = maxTogether;
  while (left.length > 0) {
    const wanted = Math.ceil(left.length / Math.ceil(left.length / limit));
    const batch: AppliedChange[] = [];
    while (batch.length < wanted && left.length > 0) {
      const tree = await treeAt(batch.length, where).catch((error: unknown) => {
        where.options.context.signal.throwIfAborted();
        if (batch.length === 0) throw error;
        // The disk may be too small for more trees.
        limit = batch.length;
        log.limited(limit, error as Error);
      });
      if (tree === undefined) break;
      const next = left.shift()!;
      proofs.begin(next.candidate);
      log.begin(next.candidate);
      const made = await applyChange(next, tree, where);
      if ('proof' in made) yield made;
      else batch.push(made);
    }
    if (batch.length === 0) continue;
    log.measure(batch.length);
    yield* measureTogether(batch, where);
    for (const { restore } of batch) restore();
  }
}

/** Measures the changes that gained as a ladder: its last rung contains all of them, and shows their joint gain. */
async function measureJointGain(
  kept: readonly Candidate[],
  where: Where,
): Promise<Pick<ProofResults, 'together' | 'ladder'>> {
  try {
    const ladder = await measureLadder(kept, where);
    return { together: proofIn(ladder, ladder.variants.at(-1)!.name, minGainForEdit), ladder };
  } catch (error) {
    return { together: failedProof(error, where) };
  }
}

/**
 * Writes the proposed changes, all or none.
 * @returns a file that was changed in the meantime; nothing is written then
 */
export function writeChanges(candidates: readonly Candidate[]): string | undefined {
  const edits = candidates.flatMap((each) => each.edits);
  const other = edits.find(({ file }) => readFileSync(file.path, 'utf8') !== file.text);
  if (other === undefined) apply(edits, (path) => path);
  return other?.file.name;
}

/** Keeps the first of the changes that edit the same text. */
function withoutOverlap(candidates: readonly Candidate[]): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates) {
    const others = kept.flatMap(({ edits }) => edits);
    const isFree = candidate.edits.every((one) => others.every((other) => !overlap(one, other)));
    if (isFree) kept.push(candidate);
  }
  return kept;
}

/** True if two edits overlap. Identical insertions at the same place, such as an import, are made only once. */
function overlap(one: Edit, other: Edit): boolean {
  if (one.file.path !== other.file.path || isSame(one, other)) return false;
  return one.start < other.end && other.start < one.end;
}
