import { type Command, Option } from 'commander';
import { randomBytes } from 'node:crypto';
import { checkDatabase, explainCalls } from '../calls-out/explain/explain-calls.ts';
import { Progress } from '../report/progress.ts';
import { renderMarkdown } from '../document/markdown.ts';
import { stairsDocument } from './report/stairs-document.ts';
import { checkBudget, readBudget, writeBudget } from './budget.ts';
import type { StairsListener, StairsPlan } from './plan.ts';
import { runStairs } from './run-stairs.ts';
import { summariseStairs } from './summarise-stairs.ts';
import { resolveTarget, type StairsTarget, type TargetOptions } from './target.ts';
import { parseChange, predict, requireStages } from './what-if.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCount, parseSeconds, parseSecondsOrNone, parseSeed } from '../command/options.ts';
import { addRenamed } from '../command/renamed-options.ts';
import { addDatabase, addTarget, collect } from '../command/target-options.ts';
import {
  addReports,
  type ReportOptions,
  reportStream,
  writeDocument,
} from '../command/write-files.ts';
import { invocation, withoutSecrets } from '../secrets.ts';

interface StairsOptions extends TargetOptions, ReportOptions {
  quick?: boolean;
  seconds?: number;
  warmup: number;
  restarts: number;
  maxStages: number;
  skip?: string[];
  whatIf?: string[];
  budget?: string;
  writeBudget?: string;
  seed?: number;
  database?: string;
}

const defaultSeconds = 45;
const quickSeconds = 8;

export function addStairsCommand(program: Command, context: CommandContext): void {
  const command = addTarget(
    program.command('stairs'),
    'URL of a running app or of the given command',
  )
    .description('measure what each stage of a request costs, by ending requests there')
    .option('--variant <name>', 'variant of the config', undefined)
    .option(
      '--what-if <stage=µs>',
      'predict the requests per second with a stage at this cost, in µs or %',
      collect,
    )
    .option('--budget <file>', 'fail when a stage costs more than this file allows', undefined)
    .option('--write-budget <file>', 'write a budget from this run', undefined)
    .option('--skip <stage>', 'do not end requests at this stage; repeatable', collect)
    .option('--quick', `take a first look: measure for ${quickSeconds} seconds`)
    .option(
      '--seconds <n>',
      `measuring time, in seconds (default: ${defaultSeconds})`,
      parseSeconds,
    )
    .option(
      '--warmup <n>',
      'warm-up before it, in seconds, of each start of the app',
      parseSecondsOrNone,
      1.5,
    )
    .addOption(
      new Option('--restarts <n>', 'fresh starts of the app; they share the measuring time')
        .default(1)
        .argParser(parseCount),
    )
    .addOption(
      new Option(
        '--max-stages <n>',
        'beyond this many, merge the cheapest stages into their neighbours',
      )
        .default(20)
        .argParser(parseCount),
    )
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed);
  addRenamed(addReports(addDatabase(command)), { '--markdown': 'write --md FILE' })
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: StairsOptions) =>
      run(target, words, options, context),
    );
}

async function run(
  asked: string,
  command: string[],
  options: StairsOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  // Invalid options are reported before a minute is spent.
  const changes = (options.whatIf ?? []).map(parseChange);
  const budget = options.budget === undefined ? undefined : await readBudget(options.budget);
  const target = await resolveTarget(asked, command, options, signal);
  const plan = planOf(target, options);
  const { cwd } = target.variant;
  await checkDatabase(options.database, cwd);
  const progress = new Progress();
  try {
    const listener: StairsListener = {
      ...listen(progress, target.variant.name),
      traced: (stages) => requireStages(changes, stages),
    };
    const seen = await runStairs(plan, listener, signal);
    const summary = summariseStairs(plan, seen, {
      invocation: invocation(),
      runId: randomBytes(3).toString('hex'),
      redlineVersion: version,
      startedAt,
      durationSeconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    });
    summary.warnings.push(...(await explainCalls(summary.calls, options.database, cwd)));
    const result = withoutSecrets(summary);
    progress.end();
    if (changes.length > 0) result.whatIf = predict(result, changes);
    if (budget) result.budget = checkBudget(result, budget, options.budget!);
    const stem = `${result.scenario}-stairs-${result.runId}`;
    const document = stairsDocument(result);
    await writeDocument({ stem, json: result, document }, options);
    if (options.writeBudget !== undefined) await writeBudget(options.writeBudget, result);
    if (result.budget && options.md === undefined) {
      reportStream(options).write(`\n${renderMarkdown(document)}`);
    }
    if (result.budget?.failed) process.exitCode = 1;
  } finally {
    progress.end();
  }
}

function planOf(target: StairsTarget, options: StairsOptions): StairsPlan {
  return {
    target,
    seconds: options.seconds ?? (options.quick ? quickSeconds : defaultSeconds),
    warmupSeconds: options.warmup,
    restarts: options.restarts,
    maxStages: options.maxStages,
    skip: options.skip ?? [],
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 32),
  };
}

function listen(progress: Progress, name: string): StairsListener {
  let roundsFrom: number | undefined;
  return {
    phase(phase) {
      progress.update({ round: 0, rounds: 1, fraction: 0, variant: name, phase });
    },
    round(done, of) {
      roundsFrom ??= performance.now();
      const perRound = (performance.now() - roundsFrom) / Math.max(1, done - 1);
      const left = done > 1 ? { secondsLeft: (perRound * (of - done)) / 1_000 } : {};
      // Limits a log to a dozen lines instead of hundreds.
      if (!process.stderr.isTTY && done % Math.ceil(of / 10) !== 0) return;
      progress.update({ round: done, rounds: of, fraction: done / of, variant: name, ...left });
    },
  };
}

const helpText = `
Examples:
  redline stairs http://127.0.0.1:3000/feed -- node server.js
  redline stairs http://127.0.0.1:3000/feed            starts a second copy of the app running there
  redline stairs redline.config.ts --variant candidate --what-if verifyToken=0
  redline stairs redline.config.ts --replay access.log --route /users/:id
  redline stairs redline.config.ts --budget stairs.budget.json

Exit status: 0 measured, 1 the app, a check or the load failed, or a stage is over its budget, 2 wrong input,
130 interrupted.`;
