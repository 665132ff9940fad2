import type { Command } from 'commander';
import { applyReplay } from '../access-log/apply-replay.ts';
import { type Asked, chooseVariant } from '../command/choose-variant.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCommand } from '../config/command-line.ts';
import type { RequestOptions } from '../config/request-options.ts';
import type { Overrides, Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { PhaseLine } from '../report/phase-line.ts';
import { runToEnd } from '../system/run-to-end.ts';
import { type Tree, Trees } from '../trees/trees.ts';
import { type LimitedReports, measurePlans } from './measure-plans.ts';

export interface TreesOptions extends Overrides, LimitedReports, RequestOptions {
  base: string;
  build?: string;
  before?: string;
  only?: string[];
  /** Time to measure, instead of a number of restarts. */
  seconds?: number;
}

/** More than fit in any time limit, so that the limit decides. */
const maxRestarts = 100;

export function addTrees(command: Command): Command {
  return command
    .option(
      '--build <command>',
      'command that builds each tree, or none (default: the build script)',
    )
    .option('--before <command>', 'run this first, e.g. "docker compose up -d --wait"');
}

export function runBefore(command: string, cwd: string, signal: AbortSignal): Promise<void> {
  return runToEnd(parseCommand(command), { asked: '--before', cwd, signal });
}

/**
 * Compares the same variant in two trees: a base revision and the committed state.
 * @throws {LabError} ERR_REDLINE_GIT, ERR_REDLINE_COMMAND, and the errors of `bench`
 */
export async function compareTrees(
  asked: Asked,
  options: TreesOptions,
  context: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  const { signal } = context;
  const [only, ...others] = options.only ?? [];
  if (others.length > 0) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--base compares one variant with itself, but --only names ${options.only!.join(', ')}: name one.`,
    );
  }
  const { plan, variant, folder } = await chooseVariant(
    { ...asked, sideBySide: true },
    only,
    options,
    '--only',
  );
  const notes = await applyReplay([plan], options, signal);
  if (options.before !== undefined) await runBefore(options.before, folder, signal);
  await using trees = await prepare(variant.cwd, options, signal);
  const compared = planForBothTrees(plan, variant, trees);
  const { seconds, restarts } = options;
  const measured: Plan =
    seconds === undefined || restarts !== undefined
      ? compared
      : {
          ...compared,
          precision: { ...plan.precision, restarts: maxRestarts },
          until: Date.now() + seconds * 1_000,
        };
  await measurePlans('bench', measured.title, [measured], { options, context, startedAt, notes });
}

async function prepare(
  folder: string,
  { base, build }: TreesOptions,
  signal: AbortSignal,
): Promise<Trees> {
  using line = new PhaseLine('trees');
  return await Trees.prepare({
    folder,
    base,
    build: build === undefined || build === 'none' ? build : parseCommand(build),
    signal,
    phase: (text) => line.show(text),
  });
}

function planForBothTrees(plan: Plan, variant: PlannedVariant, trees: Trees): Plan {
  const inTree = (tree: Tree): PlannedVariant => ({
    ...variant,
    name: tree.name,
    cwd: trees.inTree(tree, variant.cwd),
    command: variant.command.map((word) => trees.inTree(tree, word)),
  });
  return {
    ...plan,
    name: `${plan.name}-base`,
    title: `${plan.title}: ${trees.present.name} against ${trees.base.name}`,
    group: undefined,
    variants: [trees.base, trees.present].map(inTree),
    baseline: trees.base.name,
  };
}
