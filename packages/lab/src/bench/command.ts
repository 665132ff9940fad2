import type { CommandContext } from '../command/context.ts';
import type { Command } from 'commander';
import { applyReplay } from '../access-log/apply-replay.ts';
import { loadTarget } from '../config/from-url.ts';
import { type Overrides, type Plan, resolvePlans } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import {
  parseCount,
  parseMargin,
  parseNames,
  parseSecondsOrNone,
  parseSeed,
} from '../command/options.ts';
import { addReports } from '../command/write-files.ts';
import { addTrees, compareTrees, runBefore } from './compare-trees.ts';
import { type LimitedReports, measurePlans } from './measure-plans.ts';
import type { Asked } from '../command/choose-variant.ts';
import { addTarget } from '../command/target-options.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface BenchOptions extends Overrides, LimitedReports, RequestOptions {
  only?: string[];
  base?: string;
  build?: string;
  before?: string;
}

const descriptions = {
  ladder: 'measure variants as rungs, each against the base and the rung below',
  bench: 'measure variants against a baseline',
};

export function addBenchCommand(
  program: Command,
  name: 'ladder' | 'bench',
  context: CommandContext,
): void {
  const command = addTarget(program.command(name))
    .description(descriptions[name])
    .option('--quick', 'take a first look in a fraction of the time, with wider intervals')
    .option('--only <names>', 'measure only these variants, separated by commas', parseNames)
    .option(
      '--restarts <n>',
      'fresh starts of every server (default: from the config, otherwise 14; 5 without turns)',
      parseCount,
    )
    .option(
      '--blocks <n>',
      'measurements of each variant per restart (default: 3; 10 without turns)',
      parseCount,
    )
    .option(
      '--warmup <n>',
      'warm-up of every start, in seconds (default: from the config, otherwise 1)',
      parseSecondsOrNone,
    )
    .option('--margin <share>', 'margin that counts as the same (default: 2%)', parseMargin)
    .option(
      '--fail-if-slower <share>',
      'exit with 1 when a variant takes this much more CPU, e.g. 3%',
      parseMargin,
    )
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed);
  if (name === 'bench') {
    addTrees(
      command.option(
        '--base <ref>',
        'compare what is committed with this revision, e.g. origin/main',
      ),
    );
  }
  addReports(command)
    .addHelpText('after', helpText(name))
    .action((target: string, words: string[], options: BenchOptions) =>
      run(name, { target, command: words, request: options }, options, context),
    );
}

async function run(
  command: 'ladder' | 'bench',
  { target, command: words = [], request = {} }: Asked,
  options: BenchOptions,
  context: CommandContext,
): Promise<void> {
  const { base, build, before } = options;
  if (base !== undefined) {
    const asked = { target, command: words, request };
    return compareTrees(asked, { ...options, base }, context);
  }
  if (build !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--build "${build}" builds trees: name a --base, too.`,
    );
  }
  const startedAt = new Date();
  const { config, folder } = await loadTarget(target, words, { sideBySide: true, request });
  if (before !== undefined) await runBefore(before, folder, context.signal);
  const all = resolvePlans(config, folder, options);
  const plans = options.only ? choosePlans(all, options.only) : all;
  const notes = await applyReplay(plans, options, context.signal);
  const title = config.title ?? config.name;
  await measurePlans(command, title, plans, { options, context, startedAt, notes });
}

function choosePlans(plans: readonly Plan[], only: readonly string[]): Plan[] {
  const names = plans.flatMap(({ variants }) => variants.map(({ name }) => name));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--only names "${unknown}", which is not one of ${names.join(', ')}.`,
    );
  }
  return plans.flatMap((plan) => {
    const variants = plan.variants.filter(({ name }) => only.includes(name));
    if (variants.length === 0) return [];
    const hasBaseline = variants.some(({ name }) => name === plan.baseline);
    const floor = variants.find(({ name }) => name === plan.floor)?.name;
    return { ...plan, variants, floor, baseline: hasBaseline ? plan.baseline : variants[0]!.name };
  });
}

const base = `
  redline bench --base origin/main --fail-if-slower 3%`;

function helpText(name: string): string {
  return `
Examples:
  redline ${name} redline.config.ts --quick
  redline ${name} http://127.0.0.1:3000/feed -- node old.js -- node new.js
  redline ${name} --only base,candidate --restarts 8 --json result.json${name === 'ladder' ? '' : base}

Exit status: 0 measured, 1 a server, a check or the load failed, or a variant is slower than --fail-if-slower allows,
2 wrong input, 130 interrupted.`;
}
