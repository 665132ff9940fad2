import { randomBytes } from 'node:crypto';
import type { CommandContext } from '../command/context.ts';
import type { Plan } from '../config/resolve-plan.ts';
import { type ReportOptions, reportStream } from '../command/write-files.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { mergeGroups } from './groups.ts';
import { limitOf, limitSentences } from './limit.ts';
import { ProgressListener } from './progress-listener.ts';
import type { BenchResult } from './result.ts';
import { runBench } from './run-bench.ts';
import { summarise } from './summarise.ts';
import { writeReports } from './write-reports.ts';

export interface Measuring {
  context: CommandContext;
  startedAt: Date;
  /** Warnings known before the measurement. */
  notes: readonly string[];
}

/** Measures plans, with progress for a waiting user, and leaves no secret in the result. */
export async function measure(
  command: 'ladder' | 'bench',
  title: string,
  plans: readonly Plan[],
  { context: { version, signal }, startedAt, notes }: Measuring,
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
    return withoutSecrets(mergeGroups(title, parts));
  } finally {
    listener?.end();
  }
}

export interface LimitedReports extends ReportOptions {
  failIfSlower?: number;
}

/** Measures plans and writes their report: the last step of the ladder, bench, ci and runtimes commands. */
export async function measurePlans(
  command: 'ladder' | 'bench',
  title: string,
  plans: readonly Plan[],
  { options, ...measuring }: Measuring & { options: LimitedReports },
): Promise<void> {
  const result = await measure(command, title, plans, measuring);
  const { failIfSlower } = options;
  if (failIfSlower !== undefined) result.limit = limitOf(result, failIfSlower);
  await writeReports(result, options);
  if (result.limit === undefined) return;
  const sentences = limitSentences(result.limit);
  reportStream(options).write(`\n${sentences.join('\n')}\n`.replaceAll('\u00a0', ' '));
  if (result.limit.variants.some(({ word }) => word === 'slower')) process.exitCode = 1;
}
