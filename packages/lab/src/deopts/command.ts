import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { analyse } from './analyse.ts';
import { deoptsDocument } from './deopts-document.ts';
import type { DeoptsResult } from './result.ts';
import { LabError } from '../errors.ts';
import { buildCallTree } from '../profile/call-tree.ts';
import { record } from '../profile/record.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import { type CodeEvent, readLog } from '../profile/v8/v8-log.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from '../command/context.ts';
import { applyReplay } from '../access-log/apply-replay.ts';
import { type Asked, chooseVariant } from '../command/choose-variant.ts';
import { loadOf } from '../flame/command.ts';
import { parseSeconds, parseSecondsOrNone } from '../command/options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { invocation } from '../secrets.ts';
import { addTarget } from '../command/target-options.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface DeoptsOptions extends ReportOptions, RequestOptions {
  variant?: string;
  seconds: number;
  warmup: number;
  log?: string;
  all?: true;
}

/** Length of the profile that gives the own times, taken after the load whose deopts are logged. */
const profileMs = 3_000;

export function addDeoptsCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('deopts'))
    .description('list functions whose optimised code V8 discarded, where and why')
    .option('--variant <name>', 'variant to measure (default: the baseline)')
    .option('--seconds <n>', 'measured load, in seconds', parseSeconds, 10)
    .option('--warmup <n>', 'warm-up before it, in seconds', parseSecondsOrNone, 3)
    .option(
      '--log <file>',
      'read a log of node --log-code --log-deopt instead of starting a server',
    )
    .option('--all', 'include functions of packages, Node and V8 with little time of their own');
  addReports(command)
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: DeoptsOptions) =>
      run({ target, command: words, request: options }, options, context),
    );
}

async function run(asked: Asked, options: DeoptsOptions, context: CommandContext): Promise<void> {
  const result =
    options.log === undefined
      ? await observe(asked, options, context)
      : await readFromLog(options.log, context);
  const stem = `${result.scenario}-deopts-${result.runId}`;
  const document = deoptsDocument(result, options.all ?? false);
  await writeDocument({ stem, json: result, document }, options);
}

async function observe(
  asked: Asked,
  options: DeoptsOptions,
  context: CommandContext,
): Promise<DeoptsResult> {
  const { plan, variant } = await chooseVariant(asked, options.variant, options);
  const notes = await applyReplay([plan], options, context.signal);
  const shared = sharedFacts(context);
  using line = new PhaseLine(variant.name);
  const { profile, profiled, events, startMicros, node, load, machine, ...logged } = await record(
    plan,
    variant,
    {
      warmupMs: options.warmup * 1_000,
      loggedMs: options.seconds * 1_000,
      durationMs: profileMs,
      samplingMicros: 1_000,
      signal: context.signal,
      phase: (text) => line.show(text),
    },
  );
  return {
    ...shared,
    scenario: plan.name,
    title: plan.title,
    variant: variant.name,
    machine,
    node: node.version,
    load: loadOf(load),
    ...(profiled && { profiled }),
    ...analyse({
      events: until(events, logged.loggedToMicros),
      loadBeganMicros: logged.loggedFromMicros,
      tree: buildCallTree(profile, { events, startMicros: startMicros ?? 0 }),
      maps: new SourceMaps(),
      folder: variant.cwd,
    }),
    warnings: [...logged.warnings, ...notes],
  };
}

/**
 * Drops the later events: starting a profile makes V8 discard code by itself, and nothing is logged after it. Node 8 gives no
 * times.
 */
function until(events: readonly CodeEvent[], micros: number | undefined): readonly CodeEvent[] {
  if (micros === undefined) return events;
  const from = events.findIndex((event) => 'micros' in event && event.micros >= micros);
  return from < 0 ? events : events.slice(0, from);
}

async function readFromLog(file: string, context: CommandContext): Promise<DeoptsResult> {
  const path = resolve(file);
  const events = await readLog(path).catch((cause: NodeJS.ErrnoException) => {
    const what =
      cause.code === 'ENOENT'
        ? `No such log: ${path}.`
        : `${path} cannot be read: ${cause.message}.`;
    throw new LabError('ERR_REDLINE_PROFILE', what, { cause });
  });
  if (events.length === 0) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `${path} contains no code events: write it with node --log-code --log-deopt --logfile=FILE.`,
    );
  }
  return {
    ...sharedFacts(context),
    scenario: basename(path).replace(/[^\w.-]/g, '_'),
    title: basename(path),
    variant: 'from a log',
    ...analyse({ events, maps: new SourceMaps(), folder: dirname(path) }),
    warnings: [
      'The log was read from a file without a profile, so functions are ordered by how often they deoptimised.',
    ],
  };
}

function sharedFacts({
  version,
}: CommandContext): Pick<
  DeoptsResult,
  'schema' | 'command' | 'invocation' | 'runId' | 'redlineVersion' | 'startedAt'
> {
  return {
    schema: 1,
    command: 'deopts',
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: version,
    startedAt: new Date().toISOString(),
  };
}

const helpText = `
Examples:
  redline deopts                                  the baseline of redline.config.ts
  redline deopts --variant candidate --all
  redline deopts --log v8.log                     a log from elsewhere, of Node 8 to 26

Exit status: 0 read, 1 the server, a check or the load failed, 2 wrong input, 130 interrupted.`;
