import { type Command, Option } from 'commander';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Measurement, provenRules } from '@redline/eslint-plugin';
import { LabError } from '../errors.ts';
import { updateEvidence } from './evidence-file.ts';
import { minGain, type ProvePrecision } from './measure.ts';
import { evidenceBeside, loadProof, type Proof } from './proof.ts';
import { isProven, type ProvenRuntime, type ProveResult } from './result.ts';
import { runProve, type ProveListener } from './run-prove.ts';
import { majorOfVersion, nodeInUse } from './runtime-version.ts';
import { Progress } from '../report/progress.ts';
import { proveDocument } from './prove-document.ts';
import { readMachine } from '../system/machine.ts';
import type { Runtime } from '../runtimes/cache.ts';
import { obtainRuntime } from '../runtimes/obtain.ts';
import { parseRuntime } from '../runtimes/spec.ts';
import { resamples } from '../stats/bootstrap.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCount, parseNames, parseSeed } from '../command/options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { invocation } from '../secrets.ts';

interface ProveOptions extends ReportOptions {
  all?: boolean;
  runtimes?: string[];
  restarts: number;
  blocks: number;
  seed?: number;
  evidence?: string;
  besideProof?: boolean;
}

/** The Node version whose syntax prove/contestant.cjs is limited to. */
const oldestNode = 8;

export function addProveCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('prove')
    .description(
      'measure what a rule of @redline/eslint-plugin gains, on one or more Node versions',
    )
    .argument('[rules...]', 'names of rules, or files with your own proofs')
    .option('--all', 'every rule')
    .option(
      '--runtimes <list>',
      'Node versions, such as 10,24,26; fetched when missing',
      parseNames,
    )
    .addOption(count('--restarts <n>', 'number of fresh processes for each side', 5))
    .addOption(count('--blocks <n>', 'number of timings of each side per restart', 6))
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed)
    .option('--evidence <folder>', 'folder of the evidence files (default: OUT/evidence)')
    .addOption(
      new Option('--beside-proof', 'keep the evidence beside each proof').conflicts('evidence'),
    );
  addReports(command)
    .addHelpText('after', helpText)
    .action((rules: string[], options: ProveOptions) => run(rules, options, context));
}

async function run(
  rules: readonly string[],
  options: ProveOptions,
  { version, signal }: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  const proofs = chooseRules(rules, options).map(loadProof);
  const precision: ProvePrecision = {
    restarts: options.restarts,
    blocks: options.blocks,
    blockMs: 25,
    warmUpMs: 120,
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 32),
  };
  const evidence = options.besideProof
    ? undefined
    : (options.evidence ?? join(options.out, 'evidence'));
  const progress = new Progress();
  try {
    const runtimes = await obtain(options.runtimes ?? [], progress, signal);
    const machine = readMachine('none');
    const listener = listen(progress, proofs, evidence);
    const proven = await runProve({ proofs, runtimes, precision, machine }, listener, signal);
    progress.end();
    const result: ProveResult = {
      schema: 1,
      command: 'prove',
      invocation: invocation(),
      runId: randomBytes(3).toString('hex'),
      redlineVersion: version,
      startedAt: startedAt.toISOString(),
      durationSeconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
      machine,
      precision: { ...precision, resamples, leastGain: minGain },
      rules: proven,
    };
    const document = proveDocument(result, evidence ?? 'beside each proof');
    await writeDocument({ stem: `prove-${result.runId}`, json: result, document }, options);
  } finally {
    progress.end();
  }
}

/** @param evidence Folder of the evidence files; undefined for the folder of each proof. */
function listen(
  progress: Progress,
  proofs: readonly Proof[],
  evidence: string | undefined,
): ProveListener {
  const startedAt = Date.now();
  return {
    next(rule, node, done, all) {
      const elapsed = (Date.now() - startedAt) / 1_000;
      progress.update({
        round: done + 1,
        rounds: all,
        fraction: done / all,
        variant: `${rule}, Node ${node}`,
        ...(done > 0 && { secondsLeft: (elapsed / done) * (all - done) }),
      });
    },
    async proved({ rule, runtimes }) {
      const proof = proofs.find(({ name }) => name === rule)!;
      const measurements = runtimes.filter(isProven).map(withoutSlices);
      const file = evidence === undefined ? evidenceBeside(proof) : join(evidence, `${rule}.json`);
      if (measurements.length > 0) await updateEvidence(file, proof, measurements);
    },
  };
}

function withoutSlices({ slices: _slices, ...measurement }: ProvenRuntime): Measurement {
  return measurement;
}

function chooseRules(rules: readonly string[], { all }: ProveOptions): readonly string[] {
  if (all === true && rules.length > 0) {
    throw new LabError('ERR_REDLINE_OPTION', 'Name rules or say --all, not both.');
  }
  if (all === true) return provenRules();
  if (rules.length > 0) return rules;
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `Name a rule, or say --all. The rules are ${provenRules().join(', ')}.`,
  );
}

async function obtain(
  names: readonly string[],
  progress: Progress,
  signal: AbortSignal,
): Promise<Runtime[]> {
  if (names.length === 0) return [nodeInUse];
  const runtimes: Runtime[] = [];
  for (const name of names) {
    const spec = parseRuntime(name);
    if (spec.kind !== 'node') {
      throw new LabError(
        'ERR_REDLINE_OPTION',
        `--runtimes names "${name}"; rules are about V8 in Node, so only Node versions are valid.`,
      );
    }
    if (majorOfVersion(spec.range) < oldestNode) {
      throw new LabError(
        'ERR_REDLINE_OPTION',
        `--runtimes names "${name}"; what times the proofs needs Node ${oldestNode} or newer.`,
      );
    }
    runtimes.push(await obtainRuntime(spec, { signal, onProgress: (text) => progress.note(text) }));
  }
  return runtimes;
}

function count(flags: string, description: string, byDefault: number): Option {
  return new Option(flags, description).argParser(parseCount).default(byDefault);
}

const helpText = `
Examples:
  redline prove no-for-in-array
  redline prove --all --runtimes 10,24,26
  redline prove ./my-idea.cjs        # exports before(input), after(input) and inputs()

Exit status: 0 measured, 1 the two sides differ or could not be timed, 2 wrong input, 130 interrupted.`;
