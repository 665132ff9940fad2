import type { Command } from 'commander';
import { applyReplay } from '../access-log/apply-replay.ts';
import type { Overrides } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { Runtime } from './cache.ts';
import { obtainRuntime } from './obtain.ts';
import { defaultRuntimes, runtimePlan, variantOn } from './runtime-plan.ts';
import { formatRuntime, parseRuntime, type RuntimeSpec } from './spec.ts';
import { tryVariants } from './try-variants.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from '../command/context.ts';
import { measurePlans } from '../bench/measure-plans.ts';
import { type Asked, chooseVariant } from '../command/choose-variant.ts';
import { parseCount, parseMargin, parseNames, parseSeed } from '../command/options.ts';
import { addReports, type ReportOptions } from '../command/write-files.ts';
import { addTarget } from '../command/target-options.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface RuntimesOptions extends Overrides, ReportOptions, RequestOptions {
  variant?: string;
  only?: string[];
  refresh?: true;
}

export function addRuntimesCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('runtimes'))
    .description('measure the same app on several runtimes, as a ladder')
    .option('--variant <name>', 'variant to measure (default: the baseline)')
    .option(
      '--only <runtimes>',
      `runtimes, separated by commas, e.g. 10,node@24.1,bun; by default ${defaultRuntimes.map((name) => name.replace('node@', '')).join(', ')}`,
      parseNames,
    )
    .option('--refresh', 'ask npm for newer versions than those in the cache')
    .option('--quick', 'take a first look in a fraction of the time, with wider intervals')
    .option('--restarts <n>', 'fresh starts of every server', parseCount)
    .option('--blocks <n>', 'measurements of each runtime per restart', parseCount)
    .option('--margin <share>', 'margin that counts as the same (default: 2%)', parseMargin)
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed);
  addReports(command)
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: RuntimesOptions) =>
      run({ target, command: words, request: options, sideBySide: true }, options, context),
    );
}

async function run(asked: Asked, options: RuntimesOptions, context: CommandContext): Promise<void> {
  const startedAt = new Date();
  const { plan, variant } = await chooseVariant(asked, options.variant, options);
  const specs = (options.only ?? defaultRuntimes).map(parseRuntime);
  const notes = await applyReplay([plan], options, context.signal);
  using line = new PhaseLine('runtimes');
  const { found, missing } = await obtainAll(specs, options, context, line);
  const variants = uniqueNames(found.map((runtime) => variantOn(variant, runtime)));
  const skip = await tryVariants(plan, variants, context.signal, (text) => line.show(text));
  if (variants.every(({ name }) => skip[name] !== undefined)) {
    const [name, reason] = Object.entries(skip)[0] ?? ['no runtime', 'none could be fetched'];
    throw new LabError(
      'ERR_REDLINE_SERVER',
      `"${variant.name}" runs on none of the runtimes; on ${name}: ${reason}.`,
    );
  }
  line[Symbol.dispose]();
  const measured = { ...runtimePlan(plan, variants, skip), title: `${plan.title}, on runtimes` };
  await measurePlans('ladder', measured.title, [measured], {
    options,
    context,
    startedAt,
    notes: [...notes, ...missing],
  });
}

/** Notes a runtime of the default list that cannot be fetched; fails the run for one that was named. */
async function obtainAll(
  specs: readonly RuntimeSpec[],
  options: RuntimesOptions,
  { signal }: CommandContext,
  line: PhaseLine,
): Promise<{ found: Runtime[]; missing: string[] }> {
  const found: Runtime[] = [];
  const missing: string[] = [];
  for (const spec of specs) {
    line.show(`looking for ${formatRuntime(spec)}`);
    try {
      found.push(
        await obtainRuntime(spec, {
          signal,
          refresh: options.refresh ?? false,
          onProgress: (text) => line.show(text),
        }),
      );
    } catch (error) {
      if (options.only !== undefined || !(error instanceof LabError)) throw error;
      missing.push(`${formatRuntime(spec)} was not measured: ${error.message}`);
    }
  }
  return { found, missing };
}

/** Makes names distinct: `--only 24.1,24.2` gives two of the same name. */
function uniqueNames<Variant extends { name: string; note: string | undefined }>(
  variants: readonly Variant[],
): Variant[] {
  const all = variants.map(({ name }) => name);
  const distinct = new Map<string, Variant>();
  for (const variant of variants) {
    const isShared = all.filter((name) => name === variant.name).length > 1;
    const name = isShared ? `${variant.name.split(' ', 1)[0]} ${variant.note}` : variant.name;
    distinct.set(name, { ...variant, name });
  }
  return [...distinct.values()];
}

const helpText = `
Examples:
  redline runtimes --quick
  redline runtimes --only 10,24,26,bun --variant candidate

Runtimes are fetched from npm into ~/.cache/redline (REDLINE_CACHE), some 50 to 120 MB each.

Exit status: 0 measured, 1 a server, a check or a download failed, 2 wrong input, 130 interrupted.`;
