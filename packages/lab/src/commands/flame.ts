import { Option, type Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { renderFlameHtml } from '../flame/flame-html.ts';
import { formatFlameJson } from '../flame/flame-json.ts';
import { renderFlameTerminal } from '../flame/flame-terminal.ts';
import type { FlameLoad, FlameResult } from '../flame/result.ts';
import { summariseProfile } from '../flame/summarise-profile.ts';
import { buildCallTree } from '../profile/call-tree.ts';
import type { CpuProfile } from '../profile/cpu-profile.ts';
import { type LoadFigures, record, type Recording } from '../profile/record.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from './bench.ts';
import { applyReplay } from '../access-log/apply-replay.ts';
import { chooseVariant } from './choose-variant.ts';
import { parseCount, parseSeconds } from './options.ts';
import { type ReportOptions, writeFiles } from './write-files.ts';

interface FlameOptions extends ReportOptions {
  variant?: string;
  seconds: number;
  warmup: number;
  interval: number;
  connections?: number;
  replay?: string;
}

export function addFlameCommand(program: Command, context: CommandContext): void {
  program
    .command('flame')
    .description('profile a variant under load: an interactive flamegraph with V8 tiers')
    .argument('[config]', 'config file, or a folder with a redline.config.ts', '.')
    .option('--variant <name>', 'which variant; the baseline by default')
    .option('--seconds <n>', 'length of the profile', parseSeconds, 10)
    .option('--warmup <n>', 'seconds of load before it', parseSeconds, 3)
    .option('--interval <µs>', 'microseconds from sample to sample', parseCount, 1_000)
    .option('--connections <n>', 'connections kept busy', parseCount)
    .option('--replay <log>', 'requests of an access log in place of those of the config')
    .option('--json <file>', 'where to write the figures')
    .option('--html <file>', 'where to write the report')
    .addOption(
      new Option('--out <folder>', 'where files go that are not named').default('redline-out'),
    )
    .addHelpText('after', helpText)
    .action((config: string, options: FlameOptions) => run(config, options, context));
}

async function run(
  configFile: string,
  options: FlameOptions,
  context: CommandContext,
): Promise<void> {
  const { plan, variant } = await chooseVariant(configFile, options.variant, options);
  const notes = await applyReplay([plan], options.replay, context.signal);
  const { result, profile } = await profileVariant(plan, variant, options, context);
  result.warnings.push(...notes);
  const stem = `${result.scenario}-flame-${result.runId}`;
  const profileFile = join(options.out, `${stem}.cpuprofile`);
  await mkdir(options.out, { recursive: true });
  await writeFile(profileFile, JSON.stringify(profile));
  await writeFiles(
    { stem, json: formatFlameJson(result), html: renderFlameHtml(result) },
    options,
    (terminal) => renderFlameTerminal(result, { ...terminal, profile: relative('.', profileFile) }),
  );
}

async function profileVariant(
  plan: Plan,
  variant: PlannedVariant,
  options: FlameOptions,
  context: CommandContext,
): Promise<{ result: FlameResult; profile: CpuProfile }> {
  const startedAt = new Date();
  using line = new PhaseLine(variant.name);
  const recording = await record(plan, variant, {
    warmupMs: options.warmup * 1_000,
    durationMs: options.seconds * 1_000,
    samplingMicros: options.interval,
    signal: context.signal,
    phase: (text) => line.show(text),
  });
  line.show('drawing');
  return {
    result: toResult(recording, plan, variant, startedAt, context.version),
    profile: recording.profile,
  };
}

function toResult(
  { profile, events, startMicros, node, load, machine, warnings }: Recording,
  plan: Plan,
  variant: PlannedVariant,
  startedAt: Date,
  redlineVersion: string,
): FlameResult {
  const tree = buildCallTree(profile, { events, startMicros: startMicros ?? 0 });
  return {
    schema: 1,
    command: 'flame',
    scenario: plan.name,
    title: plan.title,
    variant: variant.name,
    invocation: ['redline', ...process.argv.slice(2)].join(' '),
    runId: randomBytes(3).toString('hex'),
    redlineVersion,
    startedAt: startedAt.toISOString(),
    machine,
    node: node.version,
    load: loadOf(load),
    sampler: 'inspector',
    ...summariseProfile(tree, new SourceMaps(), variant.cwd),
    warnings,
  };
}

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

The .cpuprofile beside the report opens in Chrome DevTools and speedscope.

Exit status: 0 profiled, 1 the server, a check or the load failed, 2 wrong input, 130 interrupted.`;
