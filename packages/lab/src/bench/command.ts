import type { CommandContext } from '../command/context.ts';
import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { applyReplay } from '../access-log/apply-replay.ts';
import { loadTarget } from '../config/from-url.ts';
import { type Overrides, type Plan, resolvePlans } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { mergeGroups } from './groups.ts';
import { fixed } from '../report/format.ts';
import { type BenchResult, isMeasured } from './result.ts';
import { runBench } from './run-bench.ts';
import { summarise } from './summarise.ts';
import { parseCount, parseMargin, parseNames, parseSeed } from '../command/options.ts';
import { ProgressListener } from './progress-listener.ts';
import { addReports, type ReportOptions } from '../command/write-files.ts';
import { writeReports } from './write-reports.ts';
import type { Asked } from '../command/choose-variant.ts';
import { addTarget } from '../command/target-options.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface BenchOptions extends Overrides, ReportOptions, RequestOptions {
  failIfSlower?: number;
  only?: string[];
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
    .option('--margin <share>', 'margin that counts as the same (default: 2%)', parseMargin)
    .option(
      '--fail-if-slower <share>',
      'exit with 1 when a variant takes this much more CPU, e.g. 3%',
      parseMargin,
    )
    .option('--seed <n>', 'repeat the shuffled order and the resampling of this seed', parseSeed);
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
  const startedAt = new Date();
  const { config, folder } = await loadTarget(target, words, { sideBySide: true, request });
  const all = resolvePlans(config, folder, options);
  const plans = options.only ? choosePlans(all, options.only) : all;
  const notes = await applyReplay(plans, options, context.signal);
  const result = await measurePlans(command, config.title ?? config.name, plans, {
    options,
    context,
    startedAt,
    notes,
  });
  if (options.failIfSlower !== undefined) failIfSlower(result, options.failIfSlower);
}

interface Measuring {
  options: ReportOptions;
  context: CommandContext;
  startedAt: Date;
  /** Warnings that are known before anything is measured. */
  notes: readonly string[];
}

/** Measures plans and writes their report: what the ladder, bench and runtimes commands end in. */
export async function measurePlans(
  command: 'ladder' | 'bench',
  title: string,
  plans: readonly Plan[],
  { options, context: { version, signal }, startedAt, notes }: Measuring,
): Promise<BenchResult> {
  let listener: ProgressListener | undefined;
  const listen = (plan: Plan): ProgressListener => {
    listener?.end();
    listener = new ProgressListener(plan);
    return listener;
  };
  try {
    const seen = await runBench(plans, listen, signal);
    listener!.phase('computing intervals', plans.at(-1)!.precision.restarts);
    const durationSeconds = Math.round((Date.now() - startedAt.getTime()) / 1_000);
    const facts = {
      command,
      invocation: invocation(),
      runId: randomBytes(3).toString('hex'),
      redlineVersion: version,
      startedAt,
      durationSeconds,
    };
    const parts = plans.map((plan, index) => {
      const result = summarise(plan, seen[index]!, facts);
      return { group: plan.group, result: { ...result, warnings: [...result.warnings, ...notes] } };
    });
    listener!.end();
    const result = withoutSecrets(mergeGroups(title, parts));
    await writeReports(result, options);
    return result;
  } finally {
    listener?.end();
  }
}

/** Slower is proved: the whole interval lies beyond. What is unresolved fails nobody, and is said. */
function failIfSlower(result: BenchResult, share: number): void {
  const percentage = `${fixed(share * 100, 1)} %`;
  for (const variant of result.variants.filter(isMeasured)) {
    if (variant.cpuVerdict === 'base') continue;
    const { low, high } = variant.cpuRatio;
    // The ratio is the baseline's CPU by the variant's.
    const least = 1 / high - 1;
    if (least > share) {
      process.stdout.write(
        `${variant.name} takes at least ${fixed(least * 100, 1)} % more CPU than ${result.baseline}: more than ${percentage}.\n`,
      );
      process.exitCode = 1;
    } else if (1 / low - 1 > share) {
      process.stdout.write(
        `${variant.name} may take more CPU by ${percentage}, and this run cannot tell: measure more --restarts.\n`,
      );
    }
  }
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
    return { ...plan, variants, baseline: hasBaseline ? plan.baseline : variants[0]!.name };
  });
}

function helpText(name: string): string {
  return `
Examples:
  redline ${name} redline.config.ts --quick
  redline ${name} http://127.0.0.1:3000/feed -- node old.js -- node new.js
  redline ${name} --only base,candidate --restarts 8 --json result.json

Exit status: 0 measured, 1 a server, a check or the load failed, or a variant is slower than --fail-if-slower allows,
2 wrong input, 130 interrupted.`;
}
