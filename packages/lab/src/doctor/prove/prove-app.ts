import { join } from 'node:path';
import type { CommandContext } from '../../command/context.ts';
import { parseCommand } from '../../config/command-line.ts';
import { git } from '../../trees/git.ts';
import type { TryTarget } from '../../try/target.ts';
import type { MeasuredApp } from '../cost/measure-app.ts';
import type { Candidate } from '../examine.ts';
import type { DoctorResult, Finding } from '../result.ts';
import { EarlierProofs } from './earlier-proofs.ts';
import { resumption } from './prove-log.ts';
import type { ProveOptions } from './changed-tree.ts';
import { type ProofResults, proveFindings, writeChanges } from './prove-findings.ts';

export interface ProvingOptions {
  fix?: true;
  continue?: true;
  test?: string;
  build?: string;
  /** Seconds per change. */
  each: number;
  out: string;
}

/** Fields that `--prove` adds to a result. */
export interface ProvedApp extends Pick<DoctorResult, 'together' | 'ladder' | 'warnings'> {
  /** The tried findings with their proofs, by the original finding. */
  findings: Map<Finding, Finding>;
}

/** Rules whose gain a measurement on this Node, under this load, cannot show. */
const notForSpeed = new Set(['old-node', 'request-logs-missing']);
const nothingToContinue =
  'There was nothing to go on with: no proof of this commit, with this command, request and --each, is in the output folder. Every change was measured.';

function changedMeanwhile(file: string): string {
  return `${file} was changed while the changes were proved, so --fix wrote nothing. The diffs are in the report.`;
}

/** Proves the findings that have a change, and with `--fix` keeps those that gain. */
export async function prove(
  candidates: readonly Candidate[],
  target: TryTarget,
  { requests, redirecting }: MeasuredApp,
  { options, context }: { options: ProvingOptions; context: CommandContext },
): Promise<ProvedApp> {
  const changing = candidates.filter(isToProve);
  const { build, test, each: secondsEach } = options;
  const { proofs, file } = await openProofs(target, requests, options);
  const again = resumption(changing, proofs);
  const proving: ProveOptions = {
    build: build === undefined || build === 'none' ? build : parseCommand(build),
    test: test === undefined ? undefined : parseCommand(test),
    secondsEach,
    requests,
    redirecting,
    context,
  };
  try {
    const proved = await proveFindings(changing, target, proving, proofs);
    const toFix = options.fix === true && proved.together?.word === 'gains';
    const other = toFix ? writeChanges(proved.kept) : undefined;
    const continued =
      options.continue !== true ? [] : proofs.isContinued ? again : [nothingToContinue];
    return {
      ...outcomeOf(proved, toFix && other === undefined),
      warnings: [...continued, ...(other === undefined ? [] : [changedMeanwhile(other)])],
    };
  } catch (error) {
    if (proofs.hasAny)
      process.stderr.write(
        `prove: ${file} has what is measured; the same command with --continue goes on with it\n`,
      );
    throw error;
  }
}

function isToProve({ finding: { rule, isOnMeasuredPath }, edits, preload }: Candidate): boolean {
  return (
    (edits.length > 0 || preload !== undefined) &&
    isOnMeasuredPath !== false &&
    !notForSpeed.has(rule)
  );
}

async function openProofs(
  target: TryTarget,
  requests: MeasuredApp['requests'],
  options: ProvingOptions,
): Promise<{ proofs: EarlierProofs; file: string }> {
  const { build, test, each: secondsEach } = options;
  const { command, env, cwd } = target.app;
  const commit = await git(['rev-parse', 'HEAD'], { cwd });
  const file = join(options.out, 'doctor-proofs.json');
  const proofs = EarlierProofs.open(file, {
    asked: { commit, command, env, cwd, requests, build, test, secondsEach },
    continues: options.continue === true,
  });
  return { proofs, file };
}

function outcomeOf(
  { each, kept, together, ladder }: ProofResults,
  areFixed: boolean,
): Omit<ProvedApp, 'warnings'> {
  return {
    findings: new Map(
      each.map(({ candidate: { finding }, proof }) => [finding, { ...finding, proof }]),
    ),
    ...(together === undefined ? {} : { together: { ...together, ...keptOf(kept), areFixed } }),
    // A ladder has hundreds of slices, and all figures of the report are already derived from them.
    ...(ladder === undefined ? {} : { ladder: { ...ladder, slices: [] } }),
  };
}

function keptOf(kept: readonly Candidate[]): { changes: number; imports?: string[] } {
  const imports = kept.flatMap(({ preload }) => preload ?? []);
  return { changes: kept.length, ...(imports.length === 0 ? {} : { imports }) };
}
