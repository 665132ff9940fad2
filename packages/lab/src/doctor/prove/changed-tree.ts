import { writeFileSync } from 'node:fs';
import type { BenchResult } from '../../bench/result.ts';
import { measure } from '../../bench/measure-plans.ts';
import type { CommandContext } from '../../command/context.ts';
import type { CommandLine } from '../../config/command-line.ts';
import type { Plan, PlannedVariant } from '../../config/resolve-plan.ts';
import type { RequestConfig } from '../../config/types.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { runToEnd } from '../../system/run-to-end.ts';
import { type Tree, Trees } from '../../trees/trees.ts';
import { unchanged, variantOf } from '../../try/app.ts';
import { precisionWithin } from '../../try/pace.ts';
import { findPreload } from '../../try/packages.ts';
import type { ScoutSettings } from '../../try/preload/protocol.ts';
import type { TryTarget } from '../../try/target.ts';
import { type Edit, edited } from '../edits.ts';
import type { Candidate } from '../examine.ts';

export interface ProveOptions {
  /** Command that builds a tree; undefined for the build script of its package.json, if it has one. */
  build: CommandLine | 'none' | undefined;
  /** The app's own tests; undefined for none. */
  test: CommandLine | undefined;
  /** Measuring time per change. */
  secondsEach: number;
  requests: Required<RequestConfig>[];
  redirecting: ScoutSettings | undefined;
  context: CommandContext;
}

/** The time limit normally ends a run first; more restarts would add little. */
const maxRestarts = 40;

/** The app, and the trees in which changes are made. */
export interface Where {
  target: TryTarget;
  options: ProveOptions;
  trees: Trees;
  /** Trees checked out for changes so far. */
  changing: Tree[];
}

/** Returns a tree for changes, which is checked out and built on first use. */
export async function treeAt(index: number, { trees, changing }: Where): Promise<Tree> {
  using line = new PhaseLine('prove');
  while (changing.length <= index) {
    const name = `changed-${changing.length + 1}`;
    changing.push(await trees.add(name, (text) => line.show(text)));
  }
  return changing[index]!;
}

/** Writes the changes of some findings into a tree, and returns a function that restores it. */
export function change(candidates: readonly Candidate[], tree: Tree, { trees }: Where): () => void {
  return apply(
    candidates.flatMap(({ edits }) => edits),
    (path) => trees.inTree(tree, path),
  );
}

/** Writes the changed files, and returns a function that restores them. */
export function apply(edits: readonly Edit[], placeOf: (path: string) => string): () => void {
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

export function isSame(one: Edit, other: Edit): boolean {
  return one.start === other.start && one.end === other.end && one.text === other.text;
}

/** Builds and tests a changed tree. */
export async function check(
  name: string,
  tree: Tree,
  { trees, target, options }: Where,
): Promise<void> {
  using line = new PhaseLine('prove');
  line.show(name);
  const folder = trees.inTree(tree, target.app.cwd);
  await trees.rebuild(tree, folder, options);
  if (options.test === undefined) return;
  await runToEnd(options.test, { asked: '--test', cwd: folder, signal: options.context.signal });
}

/** Returns the app in a tree, with the packages that its changes import before it. */
export function variantIn(
  tree: Tree,
  name: string,
  candidates: readonly Candidate[],
  { trees, target, options }: Where,
): PlannedVariant {
  const { app } = target;
  const preloads = candidates
    .flatMap(({ preload }) => preload ?? [])
    .map((each) => findPreload(each, app.cwd));
  return {
    ...variantOf(app, name, preloads, options.redirecting),
    cwd: trees.inTree(tree, app.cwd),
    command: app.command.map((word) => trees.inTree(tree, word)),
  };
}

/** Measures variants against the unchanged app, which comes first. */
export function compare(
  command: 'bench' | 'ladder',
  title: string,
  { changed, seconds, where }: { changed: PlannedVariant[]; seconds: number; where: Where },
): Promise<BenchResult> {
  const { trees, target, options } = where;
  const { plan } = target;
  const compared: Plan = {
    ...plan,
    name: `${plan.name}-prove`,
    title,
    group: undefined,
    requests: options.requests,
    variants: [variantIn(trees.base, unchanged, [], where), ...changed],
    baseline: unchanged,
    precision: {
      ...precisionWithin(plan),
      restarts: maxRestarts,
      // The gain of one change needs no latency figures.
      ...(command === 'bench' ? { latencyMs: 0 } : {}),
    },
    until: Date.now() + seconds * 1_000,
  };
  return measure(command, title, [compared], {
    context: options.context,
    startedAt: new Date(),
    notes: [],
  });
}
