import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { applyReplay } from '../access-log/apply-replay.ts';
import { type Asked, type Chosen, chooseVariant } from '../command/choose-variant.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCount, parseRounds, parseSecondsOrNone } from '../command/options.ts';
import { addTarget } from '../command/target-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import type { RequestOptions } from '../config/request-options.ts';
import { PhaseLine } from '../report/phase-line.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { type HeapApp, withStartedApp } from './app.ts';
import { choosePid, withRunningApp } from './attach/running-app.ts';
import { findGrowth, type HeapFound } from './find-growth.ts';
import type { HeapSettings } from './measure-heap.ts';
import { heapDocument } from './heap-document.ts';
import type { HeapResult } from './result.ts';
import { minGrowth } from './growth.ts';

interface HeapOptions extends ReportOptions, RequestOptions {
  variant?: string;
  pid?: number;
  rounds: number;
  perRound?: number;
  warmup: number;
}

export function addHeapCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('heap'))
    .description('find what stays in memory: growth per 1,000 requests, and the line that keeps it')
    .option('--variant <name>', 'variant to measure (default: the baseline)')
    .option('--pid <n>', 'measure this running Node process instead of starting one', parseCount)
    .option('--rounds <n>', 'rounds with full collections after each, 6 or more', parseRounds, 8)
    .option('--per-round <n>', 'requests per round (default: one second of them)', parseCount)
    .option('--warmup <n>', 'warm-up before the rounds, in seconds', parseSecondsOrNone, 3);
  addReports(command)
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: HeapOptions) =>
      run({ target, command: words, request: options }, options, context),
    );
}

async function run(asked: Asked, options: HeapOptions, context: CommandContext): Promise<void> {
  const startedAt = new Date();
  const { signal } = context;
  const chosen =
    options.pid === undefined
      ? await chooseVariant(asked, options.variant, options)
      : await choosePid(asked, options.pid, options);
  const { plan, variant } = chosen;
  const notes = await applyReplay([plan], options, signal);
  using line = new PhaseLine(variant.name);
  const settings: HeapSettings = {
    warmupMs: options.warmup * 1_000,
    rounds: options.rounds,
    requests: options.perRound,
    signal,
    phase: (text) => line.show(text),
  };
  const work = async (app: HeapApp): Promise<HeapResult> => {
    const found = await findGrowth(app, plan, settings);
    return resultOf(chosen, app, found, { context, startedAt, notes });
  };
  const result = withoutSecrets(
    options.pid === undefined
      ? await withStartedApp(chosen, settings, work)
      : await withRunningApp(options.pid, chosen, settings, work),
  );
  line.clear();
  const stem = `${result.scenario}-heap-${result.runId}`;
  await writeDocument({ stem, json: result, document: heapDocument(result) }, options);
}

function resultOf(
  { plan, variant }: Chosen,
  { machine, node }: HeapApp,
  { warnings, ...found }: HeapFound,
  { context, startedAt, notes }: { context: CommandContext; startedAt: Date; notes: string[] },
): HeapResult {
  return {
    schema: 1,
    command: 'heap',
    scenario: plan.name,
    title: plan.title,
    variant: variant.name,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: context.version,
    startedAt: startedAt.toISOString(),
    machine,
    node,
    ...found,
    leastGrowth: minGrowth,
    warnings: [...warnings, ...notes],
  };
}

const helpText = `
Examples:
  redline heap http://127.0.0.1:3000/feed -- node server.js
  redline heap http://127.0.0.1:3000/feed --pid 4711     a process that is running
  redline heap redline.config.ts --variant candidate --rounds 16

With --pid, the requests go to that process. SIGUSR1 opens its inspector, which is closed at the end. Every full collection stops
the process. If memory grows, a heap snapshot stops it too: seconds for hundreds of MB, with about as much memory again.

Exit status: 0 measured, 1 the app, a check or the load failed, 2 wrong input, 130 interrupted.`;
