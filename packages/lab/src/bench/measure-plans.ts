import { randomBytes } from 'node:crypto';
import { format, join, parse } from 'node:path';
import type { CommandContext } from '../command/context.ts';
import { formatResult } from '../command/format-result.ts';
import { store } from '../command/stored-run.ts';
import type { Plan } from '../config/resolve-plan.ts';
import {
  ReportFiles,
  type ReportOptions,
  reportStream,
  shownPath,
} from '../command/write-files.ts';
import { renderMarkdown } from '../document/markdown.ts';
import { renderPageOf } from '../document/page.ts';
import { renderTerminal } from '../document/terminal.ts';
import { plural } from '../report/format.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { mergeGroups, splitGroups } from './groups.ts';
import type { Identity } from './identity.ts';
import { limitOf, limitSentences } from './limit.ts';
import { ProgressListener } from './progress-listener.ts';
import type { BenchResult } from './result.ts';
import { runBench } from './run-bench.ts';
import { summarise } from './summarise.ts';
import type { Earlier, Part } from './unfinished.ts';
import { benchDocument } from './report/bench-document.ts';

export interface Measuring {
  context: CommandContext;
  startedAt: Date;
  /** Warnings known before the measurement. */
  notes: readonly string[];
  /** The groups that an interrupted run has measured; they are not measured again. */
  earlier?: Earlier | undefined;
  /** Marks the result while groups are missing. */
  identity?: Identity | undefined;
}

/**
 * Measures plans, with progress for a waiting user, and leaves no secret in the result. On a signal the groups that are complete are
 * the result; if none is, it throws.
 * @param keep Receives the result so far after each group but the last.
 */
export async function measure(
  command: 'ladder' | 'bench',
  title: string,
  plans: readonly Plan[],
  { context: { version, signal }, startedAt, notes, earlier, identity }: Measuring,
  keep: (result: BenchResult) => void = () => {},
): Promise<BenchResult> {
  const parts: Part[] = [...(earlier?.parts ?? [])];
  const isMissing = ({ group }: Plan): boolean => parts.every((part) => part.group !== group);
  const facts = {
    command,
    invocation: invocation(),
    runId: earlier?.runId ?? randomBytes(3).toString('hex'),
    redlineVersion: version,
    startedAt: earlier === undefined ? startedAt : new Date(earlier.startedAt),
  };
  const secondsSince = (time: number): number => Math.round((Date.now() - time) / 1_000);
  const soFar = (): BenchResult => {
    const order = plans.map(({ group }) => group);
    const sorted = parts.toSorted((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
    const missing = plans.filter(isMissing).map(({ group }) => group!);
    return withoutSecrets({
      ...mergeGroups(title, sorted),
      durationSeconds: (earlier?.durationSeconds ?? 0) + secondsSince(startedAt.getTime()),
      ...(missing.length > 0 && identity && { unfinished: { missing, ...identity } }),
    });
  };
  let listener: ProgressListener | undefined;
  let begunAt = startedAt.getTime();
  const listen = (plan: Plan): ProgressListener => {
    listener?.end();
    listener = new ProgressListener(plan);
    if (plans.length > 1) begunAt = Date.now();
    return listener;
  };
  try {
    await runBench(plans.filter(isMissing), listen, signal, (plan, seen) => {
      listener!.phase('computing intervals', plan.precision.restarts);
      const durationSeconds = secondsSince(begunAt);
      const result = summarise(plan, seen, { ...facts, durationSeconds });
      const warnings = [...result.warnings, ...notes];
      parts.push({ group: plan.group, result: { ...result, warnings } });
      if (plans.some(isMissing)) keep(soFar());
    });
  } catch (error) {
    if (!signal.aborted || parts.length === 0 || plans[0]!.group === undefined) throw error;
  } finally {
    listener?.end();
  }
  return soFar();
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
  const { failIfSlower } = options;
  const result = await measureInto(command, title, plans, { options, ...measuring });
  if (failIfSlower !== undefined) result.limit = limitOf(result, failIfSlower);
  await writeReports(result, options);
  if (result.limit !== undefined) {
    const sentences = limitSentences(result.limit);
    reportStream(options).write(`\n${sentences.join('\n')}\n`.replaceAll('\u00a0', ' '));
    if (result.limit.variants.some(({ word }) => word === 'slower')) process.exitCode = 1;
  }
  if (result.unfinished === undefined) return;
  process.stderr.write(`${command}: ${unfinishedText(result, options)}\n`);
  throw measuring.context.signal.reason as Error;
}

/** Stores each group once it is complete, so that a run that is killed can go on. */
async function measureInto(
  command: 'ladder' | 'bench',
  title: string,
  plans: readonly Plan[],
  { options, ...measuring }: Measuring & { options: LimitedReports },
): Promise<BenchResult> {
  let file: string | undefined;
  const keep = (result: BenchResult): void => {
    file = resultFile(result, options);
    // A file that cannot be written must not cost the measurements; the report names it at the end.
    if (file !== undefined) {
      try {
        store(file, formatResult(result));
      } catch {
        file = undefined;
      }
    }
  };
  try {
    return await measure(command, title, plans, measuring, keep);
  } catch (error) {
    if (file !== undefined && !measuring.context.signal.aborted) {
      process.stderr.write(
        `${command}: ${shownPath(file)} has the groups that are complete; the same command with --continue goes on with it\n`,
      );
    }
    throw error;
  }
}

/** Returns the file of the figures; undefined for standard output. */
function resultFile(
  { scenario, runId }: Pick<BenchResult, 'scenario' | 'runId'>,
  { json, out }: ReportOptions,
): string | undefined {
  return json === '-' ? undefined : (json ?? join(out, `${scenario}-${runId}.json`));
}

function unfinishedText(result: BenchResult, options: LimitedReports): string {
  const { missing } = result.unfinished!;
  const complete = result.groups!.map(({ name }) => name);
  const all = complete.length + missing.length;
  const known = `${complete.length} of ${plural(all, 'group')} ${complete.length === 1 ? 'is' : 'are'} complete: ${complete.join(', ')}`;
  const file = resultFile(result, options);
  return file === undefined
    ? known
    : `${known}. ${shownPath(file)} has ${complete.length === 1 ? 'it' : 'them'}, and the same command with --continue measures the rest`;
}

/**
 * Writes the files and prints the terminal report, whose last lines name them. Each group gets its own report.
 * @throws {LabError} ERR_REDLINE_WRITE after the reports are printed, when a file could not be written
 */
async function writeReports(result: BenchResult, options: ReportOptions): Promise<void> {
  const stem = join(options.out, `${result.scenario}-${result.runId}`);
  const html = options.html ?? `${stem}.html`;
  const files = new ReportFiles();
  const json = await files.write(options.json ?? `${stem}.json`, formatResult(result));
  const parts = splitGroups(result).map(benchDocument);
  if (options.md !== undefined) {
    await files.write(options.md, parts.map(renderMarkdown).join('\n'));
  }
  for (const [index, part] of parts.entries()) {
    const group = result.groups?.[index]?.name;
    const page = await files.write(
      group === undefined || html === '-' ? html : inName(html, group),
      renderPageOf(part),
    );
    files.print((terminal) =>
      renderTerminal(part, { ...terminal, files: { ...json('json'), ...page('html') } }),
    );
  }
  files.finish();
}

function inName(file: string, group: string): string {
  const { dir, name, ext } = parse(file);
  return format({ dir, name: `${name}-${group}`, ext });
}
