import type { CommandContext } from '../command/context.ts';
import type { Command } from 'commander';
import { resolve } from 'node:path';
import { applyReplay } from '../access-log/apply-replay.ts';
import { loadTarget } from '../config/from-url.ts';
import type { Overrides, Plan } from '../config/resolve-plan.ts';
import { choosePlans, announcement } from './run-time.ts';
import { LabError } from '../errors.ts';
import {
  parseCount,
  parseMargin,
  parseNames,
  parseSecondsOrNone,
  parseSeed,
} from '../command/options.ts';
import { addReports, shownPath } from '../command/write-files.ts';
import { pinSelf } from '../system/pinning.ts';
import { addTrees, compareTrees, runBefore } from './compare-trees.ts';
import { type LimitedReports, measurePlans } from './measure-plans.ts';
import { type Identity, identify } from './identity.ts';
import { type Earlier, newestUnfinished, readEarlier } from './unfinished.ts';
import type { Asked } from '../command/choose-variant.ts';
import { addTarget } from '../command/target-options.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface BenchOptions extends Overrides, LimitedReports, RequestOptions {
  only?: string[];
  base?: string;
  build?: string;
  before?: string;
  continue?: true;
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
    .option('--quick', 'take a first look of three minutes or less, with wider intervals')
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
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed)
    .option(
      '--continue',
      'go on with the groups that an interrupted run of the same code has measured',
    );
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
    if (options.continue) throw nothingToContinue('--base compares without groups');
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
  const { plans, leftOut } = choosePlans(config, folder, options);
  const notes = await applyReplay(plans, options, context.signal);
  const title = config.title ?? config.name;
  // A run without groups cannot be continued.
  const identity =
    plans[0]!.group === undefined ? undefined : await identify(plans, folder, outputsOf(options));
  const earlier = options.continue
    ? goOn(plans, options, { identity, redlineVersion: context.version })
    : undefined;
  const left = plans.filter(
    (plan) => earlier?.parts.every(({ group }) => group !== plan.group) ?? true,
  );
  say(command, announcement({ plans: left, leftOut }, pinSelf(false).coreCount));
  const measuring = { context, startedAt, notes, earlier, identity };
  await measurePlans(command, title, plans, { options, ...measuring });
}

/** Lists the files and folders that a run writes, as absolute paths. */
function outputsOf({ out, json, html, md }: BenchOptions): string[] {
  return [out, json, html, md].flatMap((path) =>
    path === undefined || path === '-' ? [] : [resolve(path)],
  );
}

/** Finds the groups of an interrupted run: in the file of the figures, or in the newest one of the output folder. */
function goOn(
  plans: readonly Plan[],
  { json, out }: BenchOptions,
  { identity, redlineVersion }: { identity: Identity | undefined; redlineVersion: string },
): Earlier | undefined {
  if (identity === undefined) throw nothingToContinue('this config has none');
  if (json === '-') throw nothingToContinue('standard output has none: name a file with --json');
  const file = json ?? newestUnfinished(out, plans[0]!.name);
  const earlier = file === undefined ? undefined : readEarlier(file, { identity, redlineVersion });
  const names = earlier?.parts.map(({ group }) => group).join(', ');
  say(
    'continue',
    earlier === undefined
      ? `${file === undefined ? `no unfinished run of ${plans[0]!.name} is in ${out}` : `${file} does not exist`}: every group is measured`
      : `${shownPath(earlier.file)} has ${names}`,
  );
  return earlier;
}

function nothingToContinue(why: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', `--continue goes on with complete groups, but ${why}.`);
}

function say(what: string, text: string): void {
  process.stderr.write(`${what}: ${text}\n`);
}

const base = `
  redline bench --base origin/main --fail-if-slower 3%`;

function helpText(name: string): string {
  return `
Examples:
  redline ${name} redline.config.ts --quick
  redline ${name} http://127.0.0.1:3000/feed -- node old.js -- node new.js
  redline ${name} --only base,candidate --restarts 8 --json result.json
  redline ${name} --json result.json --continue${name === 'ladder' ? '' : base}

Exit status: 0 measured, 1 a server, a check or the load failed, or a variant is slower than --fail-if-slower allows,
2 wrong input, 130 interrupted: the groups that are complete are reported and written.`;
}
