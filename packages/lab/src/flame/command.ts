import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { watchVariant } from '../calls-out/watch-variant.ts';
import { compareProfiles } from './change.ts';
import { changeDocument, type FlameDiff } from './change-document.ts';
import { flameDocument } from './flame-document.ts';
import { readFlame } from './read-flame.ts';
import type { FlameLoad, FlameResult } from './result.ts';
import { functionsWithRegExp } from './runs-reg-exp.ts';
import { summariseProfile } from './summarise-profile.ts';
import { withRegExps } from './with-reg-exps.ts';
import { LabError } from '../errors.ts';
import { buildCallTree, toCpuProfile } from '../profile/call-tree.ts';
import type { CpuProfile } from '../profile/cpu-profile.ts';
import { hottestLines } from '../profile/hottest-lines.ts';
import { record } from '../profile/record.ts';
import { recordRegExps } from '../profile/reg-exp-names.ts';
import { type PerfRecording, recordWithPerf } from '../profile/perf.ts';
import type { LoadFigures, RecordOptions } from '../profile/serve.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from '../command/context.ts';
import { applyReplay } from '../access-log/apply-replay.ts';
import { type Asked, type Chosen, chooseVariant } from '../command/choose-variant.ts';
import { parseCount, parseSeconds, parseSecondsOrNone } from '../command/options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { addTarget } from '../command/target-options.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface FlameOptions extends ReportOptions, RequestOptions {
  variant?: string;
  diff?: string[];
  seconds: number;
  warmup: number;
  interval: number;
  perf?: true;
}

export function addFlameCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('flame'))
    .description('profile a variant under load: an interactive flamegraph with V8 tiers')
    .option('--variant <name>', 'variant to measure (default: the baseline)')
    .option('--diff <before after...>', 'compare two variants, or two files of earlier runs')
    .option('--seconds <n>', 'length of the profile, in seconds', parseSeconds, 10)
    .option('--warmup <n>', 'warm-up before it, in seconds', parseSecondsOrNone, 3)
    .option('--interval <µs>', 'sampling interval, in microseconds', parseCount, 1_000)
    .option('--perf', 'sample with Linux perf, including native frames and the kernel');
  addReports(command)
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: FlameOptions) =>
      run({ target, command: words, request: options }, options, context),
    );
}

async function run(asked: Asked, options: FlameOptions, context: CommandContext): Promise<void> {
  if (options.diff !== undefined) return runDiff(asked, options.diff, options, context);
  const { plan, variant } = await chooseVariant(asked, options.variant, options);
  const notes = await applyReplay([plan], options, context.signal);
  const { result, profile } = await profileVariant(plan, variant, options, context);
  result.warnings.push(...notes);
  await addCalls(result, { plan, variant }, context);
  const stem = `${result.scenario}-flame-${result.runId}`;
  await writeDocument(
    {
      stem,
      json: result,
      document: flameDocument(result),
      profile: { name: `${stem}.cpuprofile`, text: JSON.stringify(profile) },
    },
    options,
  );
}

/** Adds what the requests call, as Node 22 and newer show it. The profile is kept whatever becomes of this. */
async function addCalls(
  result: FlameResult,
  { plan, variant }: Pick<Chosen, 'plan' | 'variant'>,
  { signal }: CommandContext,
): Promise<void> {
  if (Number.parseInt(result.node?.replace(/^v/, '') ?? '0', 10) < 22) return;
  using line = new PhaseLine(variant.name);
  try {
    const phase = (text: string): void => line.show(text);
    const calls = await watchVariant(plan, variant, { signal, phase });
    if (calls !== undefined) result.calls = withoutSecrets(calls);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof LabError)) throw error;
    result.warnings.push(`Its calls are not known: ${error.message}`);
  }
}

/** Reads each side from a file of an earlier run if one of that name exists, otherwise profiles the variant now. */
async function runDiff(
  asked: Asked,
  sides: string[],
  options: FlameOptions,
  context: CommandContext,
): Promise<void> {
  if (sides.length !== 2) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--diff takes two variants or files, not ${sides.join(', ')}; the config comes before it.`,
    );
  }
  const startedAt = new Date();
  // Errors in the second side are found before the first is profiled.
  const chosen = await inOrder(sides, async (side): Promise<FlameResult | Chosen> =>
    existsSync(side)
      ? readFlame(side)
      : chooseVariant(asked, side, options, 'There is no such file, and --diff'),
  );
  const [before, after] = await inOrder(chosen, async (side) => {
    if ('tree' in side) return side;
    const { plan, variant } = side;
    const notes = await applyReplay([plan], options, context.signal);
    const { result } = await profileVariant(plan, variant, options, context);
    result.warnings.push(...notes);
    return result;
  });
  const diff = diffOf(before!, after!, startedAt, context);
  const stem = `${diff.scenario}-flame-diff-${diff.runId}`;
  await writeDocument({ stem, json: diff, document: changeDocument(diff) }, options);
}

function diffOf(
  before: FlameResult,
  after: FlameResult,
  startedAt: Date,
  { version }: CommandContext,
): FlameDiff {
  return {
    schema: 1,
    command: 'flame-diff',
    scenario: after.scenario,
    title: `${before.variant} → ${after.variant}`,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: version,
    startedAt: startedAt.toISOString(),
    before,
    after,
    change: compareProfiles(before, after),
    warnings: [before, after].flatMap(({ variant, warnings }) =>
      warnings.map((warning) => `${variant}: ${warning}`),
    ),
  };
}

interface Profiled extends PerfRecording, Pick<FlameResult, 'tiersAt' | 'regExpSeconds'> {
  profile?: CpuProfile;
  /** The line with the most ticks of each function, if regular expressions have no frames. */
  lines?: ReadonlyMap<string, number>;
}

/** Works on one item after the other: two loads at the same time would measure each other. */
async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

async function profileVariant(
  plan: Plan,
  variant: PlannedVariant,
  options: FlameOptions,
  context: CommandContext,
): Promise<{ result: FlameResult; profile: CpuProfile }> {
  const startedAt = new Date();
  using line = new PhaseLine(variant.name);
  const settings = {
    warmupMs: options.warmup * 1_000,
    durationMs: options.seconds * 1_000,
    samplingMicros: options.interval,
    followTiers: true,
    signal: context.signal,
    phase: (text: string) => line.show(text),
  };
  const taken: Profiled = options.perf
    ? { ...(await recordWithPerf(plan, variant, settings)), tiersAt: 'sample' }
    : await recordAndMerge(plan, variant, settings);
  line.show('drawing');
  const { tree, node, load, profiled, machine, warnings, tiersAt, lines, regExpSeconds } = taken;
  const result: FlameResult = {
    schema: 1,
    command: 'flame',
    scenario: plan.name,
    title: plan.title,
    variant: variant.name,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: context.version,
    startedAt: startedAt.toISOString(),
    machine,
    node: node.version,
    load: loadOf(load),
    ...(profiled && { profiled }),
    sampler: options.perf ? 'perf' : 'inspector',
    ...(tiersAt && { tiersAt }),
    ...(regExpSeconds && { regExpSeconds }),
    ...summariseProfile(tree, new SourceMaps(), variant.cwd, lines),
    warnings,
  };
  return { result, profile: taken.profile ?? toCpuProfile(tree) };
}

async function recordAndMerge(
  plan: Plan,
  variant: PlannedVariant,
  settings: RecordOptions,
): Promise<Profiled & { profile: CpuProfile }> {
  const { events, startMicros, during, ...taken } = await record(plan, variant, settings);
  const tree = buildCallTree(taken.profile, { events, startMicros: startMicros ?? 0, during });
  const tiersAt = during === undefined ? ('start' as const) : ('sample' as const);
  const lines = hottestLines(taken.profile);
  if (functionsWithRegExp(tree, new SourceMaps(), lines).length === 0)
    return { ...taken, tree, tiersAt };
  const durationMs = Math.min(settings.durationMs, maxRegExpMs);
  try {
    const named = await recordRegExps(plan, variant, { ...settings, durationMs });
    const split = withRegExps(tree, buildCallTree(named));
    return { ...taken, tree: split, tiersAt, regExpSeconds: durationMs / 1_000 };
  } catch (error) {
    settings.signal.throwIfAborted();
    const text = `Regular expressions are not named, because the second profile failed: ${(error as Error).message}`;
    return { ...taken, tree, tiersAt, lines, warnings: [...taken.warnings, text] };
  }
}

/** Max length of the profile that finds the share of regular expressions. */
const maxRegExpMs = 3_000;

export function loadOf(load: LoadFigures): FlameLoad {
  return {
    generator: load.generator,
    connections: load.connections,
    requests: load.requestLabels,
    completed: load.requests,
    seconds: load.seconds,
    serverBusy: load.serverBusy,
    microsPerRequest: load.microsPerRequest,
  };
}

const helpText = `
Examples:
  redline flame                                   the baseline of redline.config.ts
  redline flame --variant candidate --seconds 30
  redline flame --diff base candidate             what got cheaper and what more expensive
  redline flame --diff redline-out/a.json redline-out/b.json

The .cpuprofile beside the report opens in Chrome DevTools and speedscope.

Exit status: 0 profiled, 1 the server, a check or the load failed, 2 wrong input, 130 interrupted.`;
