import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { applyReplay } from '../access-log/apply-replay.ts';
import { findAdvice } from './find-advice.ts';
import { knownEvidence } from './known-evidence.ts';
import type { AdviseResult } from './result.ts';
import { LabError } from '../errors.ts';
import { buildCallTree, type CallTree } from '../profile/call-tree.ts';
import { readCpuProfile } from '../profile/cpu-profile.ts';
import { hotShare } from '../profile/functions.ts';
import { profiledText } from '../profile/profiled-thread.ts';
import { record } from '../profile/record.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import { majorOfVersion } from '../prove/runtime-version.ts';
import { adviseDocument } from './advise-document.ts';
import { PhaseLine } from '../report/phase-line.ts';
import type { CommandContext } from '../command/context.ts';
import { type Asked, chooseVariant } from '../command/choose-variant.ts';
import { parseNames, parseSeconds, parseSecondsOrNone } from '../command/options.ts';
import { addRenamed } from '../command/renamed-options.ts';
import { addTarget } from '../command/target-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { invocation } from '../secrets.ts';
import { findLinter } from './lint-script.ts';
import type { RequestOptions } from '../config/request-options.ts';

interface AdviseOptions extends ReportOptions, RequestOptions {
  profile?: string;
  only?: string[];
  variant?: string;
  seconds: number;
  warmup: number;
  node?: string;
  evidence?: string;
}

/** A profile and its origin. */
interface Profiled {
  tree: CallTree;
  from: string;
  title: string;
  /** Node version the profile was taken on. */
  node: string;
  folder: string;
}

export function addAdviseCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('advise'))
    .description('find changes that would speed up the hot functions, and by how much')
    .option('--profile <file>', 'a .cpuprofile (default: run the load and profile it)')
    .option('--only <paths>', 'limit to these files and folders, separated by commas', parseNames)
    .option('--variant <name>', 'variant to measure (default: the baseline)')
    .option('--seconds <n>', 'length of the profile, in seconds', parseSeconds, 10)
    .option('--warmup <n>', 'warm-up before it, in seconds', parseSecondsOrNone, 3)
    .option('--node <version>', 'Node version the profile was taken on (default: this one)')
    .option('--evidence <folder>', 'folder of gains you measured yourself (default: OUT/evidence)');
  addRenamed(addReports(command), {
    '--config': 'give the config as the first argument, redline advise redline.config.ts',
  })
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: AdviseOptions) =>
      run({ target, command: words, request: options }, options, context),
    );
}

async function run(asked: Asked, options: AdviseOptions, context: CommandContext): Promise<void> {
  const startedAt = new Date();
  // Fails before ten seconds of load, not after them.
  findLinter();
  const files = options.only ?? [];
  const missing = files.find((file) => !existsSync(file));
  if (missing !== undefined) {
    throw new LabError('ERR_REDLINE_OPTION', `No such file or folder: ${missing}.`);
  }
  if (options.profile !== undefined) refuseTarget(asked);
  const { tree, from, title, node, folder } = options.profile
    ? await readProfile(options.profile, options.node)
    : await takeProfile(asked, options, context);
  const evidence = await knownEvidence(options.evidence ?? join(options.out, 'evidence'));
  const found = findAdvice(tree, {
    major: majorOfVersion(node),
    evidence,
    files,
    maps: new SourceMaps(),
    folder,
  });
  const result: AdviseResult = {
    schema: 1,
    command: 'advise',
    title,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: context.version,
    startedAt: startedAt.toISOString(),
    node,
    profile: { from, samples: tree.samples, seconds: tree.seconds },
    leastShare: hotShare,
    ...found,
  };
  await writeDocument(
    { stem: `advise-${result.runId}`, json: result, document: adviseDocument(result) },
    options,
  );
}

/** Rejects a target next to --profile: an existing profile needs no load. */
function refuseTarget({ target, command = [] }: Asked): void {
  if (target === '.' && command.length === 0) return;
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `"${[target, ...command].join(' ')}" names what to put under load, but --profile brings a profile: omit one of them. To limit the advice to files, use --only ${target}`,
  );
}

async function readProfile(file: string, node = process.versions.node): Promise<Profiled> {
  if (!/^\d+(?:\.\d+){0,2}$/.test(node)) {
    throw new LabError('ERR_REDLINE_OPTION', `--node is "${node}"; it takes a version such as 24.`);
  }
  const tree = buildCallTree(await readCpuProfile(file));
  if (tree.samples === 0) {
    throw new LabError(
      'ERR_REDLINE_PROFILE',
      `${file} holds idle time only: profile the server while it is under load.`,
    );
  }
  return { tree, from: file, title: file, node, folder: process.cwd() };
}

async function takeProfile(
  asked: Asked,
  options: AdviseOptions,
  { signal }: CommandContext,
): Promise<Profiled> {
  const { plan, variant } = await chooseVariant(asked, options.variant, options);
  const notes = await applyReplay([plan], options, signal);
  for (const note of notes) process.stderr.write(`! ${note}\n`);
  using line = new PhaseLine(variant.name);
  const recording = await record(plan, variant, {
    warmupMs: options.warmup * 1_000,
    durationMs: options.seconds * 1_000,
    samplingMicros: 1_000,
    signal,
    phase: (text) => line.show(text),
  });
  return {
    tree: buildCallTree(recording.profile),
    from: `profiled under load, ${recording.load.requests} requests${plan.requestLabel === undefined ? '' : ` (${plan.requestLabel})`}${recording.profiled === undefined ? '' : `: ${profiledText(recording.profiled)}`}`,
    title: `${plan.title}, ${variant.name}`,
    node: recording.node.version,
    folder: variant.cwd,
  };
}

const helpText = `
Examples:
  redline advise --profile app.cpuprofile          of node --cpu-prof or redline flame
  redline advise --profile app.cpuprofile --only src
  redline advise http://127.0.0.1:3000/feed -- node server.js     runs the load and profiles it first
  redline advise redline.config.ts --variant candidate

Exit status: 0 examined, 1 the profile is empty or the load failed, 2 wrong input, 130 interrupted.`;
