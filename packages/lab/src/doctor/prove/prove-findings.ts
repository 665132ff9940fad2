import { writeFileSync } from 'node:fs';
import { measure } from '../../bench/measure-plans.ts';
import { measuredRows } from '../../bench/report/rows.ts';
import type { BenchResult } from '../../bench/result.ts';
import type { CommandContext } from '../../command/context.ts';
import type { CommandLine } from '../../config/command-line.ts';
import type { Plan, PlannedVariant } from '../../config/resolve-plan.ts';
import type { RequestConfig } from '../../config/types.ts';
import { LabError } from '../../errors.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { runToEnd } from '../../system/run-to-end.ts';
import { type Tree, Trees } from '../../trees/trees.ts';
import { asItIs, variantOf } from '../../try/app.ts';
import { precisionWithin } from '../../try/precision.ts';
import type { ScoutSettings } from '../../try/preload/protocol.ts';
import type { TryTarget } from '../../try/target.ts';
import { wordOf } from '../../try/verdict.ts';
import { type Edit, edited } from '../edits.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';

const changed = 'changed';

export interface ProveOptions {
  /** What builds a tree; undefined for the build script of its package.json, if it has one. */
  build: CommandLine | 'none' | undefined;
  /** The app's own tests; none where undefined. */
  test: CommandLine | undefined;
  /** Time to measure each change for. */
  secondsEach: number;
  requests: Required<RequestConfig>[];
  redirecting: ScoutSettings | undefined;
  context: CommandContext;
}

export interface Proved {
  candidate: Candidate;
  proof: Proof;
}

export interface AllProved {
  each: Proved[];
  /** The changes that gained, as far as they do not touch the same text, and what they gain together. */
  kept: readonly Candidate[];
  together: Proof | undefined;
}

/**
 * Makes each change in a worktree, runs the tests, and measures it beside a worktree without it. The user's tree is not touched.
 * @throws {LabError} ERR_REDLINE_GIT where the tree is dirty, ERR_REDLINE_COMMAND where it cannot be built or its tests fail as it is
 */
export async function proveFindings(
  candidates: readonly Candidate[],
  target: TryTarget,
  options: ProveOptions,
): Promise<AllProved> {
  const { test, context } = options;
  await using trees = await prepare(target, options);
  const folder = trees.inTree(trees.present, target.app.cwd);
  const where = { target, options, folder };
  if (test !== undefined) {
    using line = new PhaseLine('prove');
    line.show('running the tests as it is');
    await runToEnd(test, { asked: 'As it is, --test', cwd: folder, signal: context.signal });
  }
  const each: Proved[] = [];
  for (const [index, candidate] of candidates.entries()) {
    const { rule, file, line } = candidate.finding;
    const name = `change ${index + 1} of ${candidates.length}, ${rule} at ${file}:${line}`;
    each.push({ candidate, proof: await proofOf(name, candidate.edits, trees, where) });
  }
  const gaining = each.filter(({ proof }) => proof.word === 'gains');
  const kept = withoutOverlap(gaining.map(({ candidate }) => candidate));
  if (kept.length < 2) return { each, kept, together: gaining[0]?.proof };
  const all = kept.flatMap(({ edits }) => edits);
  const name = `the ${kept.length} changes that gained, together`;
  return { each, kept, together: await proofOf(name, all, trees, where) };
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

interface Where {
  target: TryTarget;
  options: ProveOptions;
  /** Of the app, in the tree that is changed. */
  folder: string;
}

async function proofOf(
  name: string,
  edits: readonly Edit[],
  trees: Trees,
  where: Where,
): Promise<Proof> {
  const { signal } = where.options.context;
  const restore = apply(edits, (path) => trees.inTree(trees.present, path));
  try {
    await check(name, trees, where);
    const proof = proofIn(await benchOf(name, trees, where));
    // One run in twenty finds the app different from itself by chance.
    return proof.word === 'withheld' ? proofIn(await benchOf(name, trees, where)) : proof;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LabError)) throw error;
    return { word: 'fails', why: error.message.split('\n', 1)[0]! };
  } finally {
    restore();
  }
}

/** Builds and tests what was changed. */
async function check(name: string, trees: Trees, { options, folder }: Where): Promise<void> {
  using line = new PhaseLine('prove');
  line.show(name);
  await trees.rebuild(trees.present, folder, options);
  if (options.test === undefined) return;
  await runToEnd(options.test, { asked: '--test', cwd: folder, signal: options.context.signal });
}

/** Writes the changed files, and returns what writes them back. */
function apply(edits: readonly Edit[], placeOf: (path: string) => string): () => void {
  const distinct = edits.filter(
    (one, index) =>
      !edits
        .slice(0, index)
        .some((other) => one.file.path === other.file.path && isSame(one, other)),
  );
  const files = [...Map.groupBy(distinct, ({ file }) => file.path)];
  for (const [path, own] of files) writeFileSync(placeOf(path), edited(own[0]!.file.text, own));
  return () => {
    for (const [path, own] of files) writeFileSync(placeOf(path), own[0]!.file.text);
  };
}

/** Writes changes where they are proposed. */
export function fix(candidates: readonly Candidate[]): void {
  apply(
    candidates.flatMap(({ edits }) => edits),
    (path) => path,
  );
}

function benchOf(title: string, trees: Trees, { target, options }: Where): Promise<BenchResult> {
  const { plan, app } = target;
  const { requests, redirecting, secondsEach, context } = options;
  const inTree = (tree: Tree, name: string): PlannedVariant => {
    const variant = variantOf(app, name, [], redirecting);
    return {
      ...variant,
      cwd: trees.inTree(tree, app.cwd),
      command: app.command.map((word) => trees.inTree(tree, word)),
    };
  };
  const compared: Plan = {
    ...plan,
    name: `${plan.name}-prove`,
    title,
    group: undefined,
    requests,
    variants: [inTree(trees.base, asItIs), inTree(trees.present, changed)],
    baseline: asItIs,
    precision: precisionWithin(plan),
    until: Date.now() + secondsEach * 1_000,
  };
  return measure('bench', title, [compared], {
    context,
    startedAt: new Date(),
    notes: [],
  });
}

function proofIn(bench: BenchResult): Proof {
  const word = wordOf(bench, changed);
  const row = measuredRows(bench).find(({ name }) => name === changed);
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

function isSame(one: Edit, other: Edit): boolean {
  return one.start === other.start && one.end === other.end && one.text === other.text;
}
