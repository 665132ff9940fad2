import type { Command } from 'commander';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { applyReplay } from '../access-log/apply-replay.ts';
import { checkDatabase, explainCalls } from '../calls-out/explain/explain-calls.ts';
import type { CommandContext } from '../command/context.ts';
import { parseSeconds, parseSecondsOrNone } from '../command/options.ts';
import { addDatabase, addTarget } from '../command/target-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { commandText, parseCommand, quotedWord } from '../config/command-line.ts';
import { LabError } from '../errors.ts';
import { SourceMaps } from '../profile/source-maps.ts';
import { PhaseLine } from '../report/phase-line.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { runToEnd } from '../system/run-to-end.ts';
import { requireCommitted } from '../trees/trees.ts';
import { resolveTarget, type TargetOptions, type TryTarget } from '../try/target.ts';
import type { App } from './app/app.ts';
import { readApp } from './app/read-app.ts';
import { adviceIn } from './cost/advice.ts';
import { type MeasuredApp, measureApp } from './cost/measure-app.ts';
import { withCosts } from './cost/with-costs.ts';
import { addConsent, type ConsentOptions, FirstScreen } from '../try/first-screen.ts';
import { examine } from './examine.ts';
import { prove, type ProvingOptions } from './prove/prove-app.ts';
import { doctorDocument } from './report/doctor-document.ts';
import type { DoctorResult, Finding } from './result.ts';

interface DoctorOptions extends ReportOptions, TargetOptions, ProvingOptions, ConsentOptions {
  before?: string;
  seconds: number;
  warmup: number;
  prove?: true;
  database?: string;
}

export function addDoctorCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('doctor'), 'URL or path to request')
    .description('find what costs time in an app, and measure what each finding costs')
    .option('--variant <name>', 'variant of the config (default: the baseline)')
    .option('--cwd <folder>', 'folder of the app, e.g. of a workspace (default: the current one)')
    .option('--before <command>', 'run this first, e.g. "docker compose up -d --wait"')
    .option('--seconds <n>', 'length of the profile, in seconds', parseSeconds, 5)
    .option('--warmup <n>', 'warm-up before it, in seconds', parseSecondsOrNone, 3)
    .option('--prove', 'make each change in a worktree, and measure what it gains')
    .option('--fix', 'the same, and keep the changes that gain')
    .option('--continue', 'go on with what an interrupted --prove of this commit has measured')
    .option('--test <command>', 'with --prove: tests that a change has to pass')
    .option(
      '--build <command>',
      'with --prove: build a tree with this command; "none" builds nothing',
    )
    .option('--each <n>', 'with --prove: time for each change, in seconds', parseSeconds, 40);
  addReports(addConsent(addDatabase(command)))
    .addHelpText('after', helpText)
    .action((_target: string, _words: string[], options: DoctorOptions, own: Command) =>
      run(own.args, options, context),
    );
}

interface Examination {
  title: string;
  app: App;
  /** Detected in the running server. */
  framework?: string;
  findings: Finding[];
  started?: string;
  measured?: DoctorResult['measured'];
  together?: DoctorResult['together'];
  ladder?: DoctorResult['ladder'];
  warnings: string[];
}

async function run(
  words: readonly string[],
  options: DoctorOptions,
  context: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  // Without arguments no app is started: only the code is examined.
  refuseIdleOptions(words, options);
  const found = words.length === 0 ? ofCode(options) : await ofRunningApp(words, options, context);
  if (found === undefined) return;
  const { app, measured, together, ladder, started, ...examined } = found;
  const framework = examined.framework ?? app.framework;
  const result: DoctorResult = withoutSecrets({
    schema: 1,
    command: 'doctor',
    title: examined.title,
    invocation: invocation(),
    runId: randomBytes(3).toString('hex'),
    redlineVersion: context.version,
    startedAt: startedAt.toISOString(),
    durationSeconds: (Date.now() - startedAt.getTime()) / 1_000,
    app: {
      ...(framework === undefined ? {} : { framework }),
      files: app.sources.length,
      ...(app.entry === undefined ? {} : { entry: relative(app.folder, app.entry.path) }),
      ...(started === undefined ? {} : { started }),
    },
    ...(measured === undefined ? {} : { measured }),
    findings: examined.findings,
    ...(together === undefined ? {} : { together }),
    ...(ladder === undefined ? {} : { ladder }),
    warnings: [...missingWarning(app), ...examined.warnings],
  });
  const document = doctorDocument(result);
  await writeDocument({ stem: `doctor-${result.runId}`, json: result, document }, options);
}

function ofCode({ cwd }: DoctorOptions): Examination {
  const folder = resolve(cwd ?? '.');
  if (!existsSync(folder)) {
    throw new LabError('ERR_REDLINE_OPTION', `--cwd "${cwd}" does not exist.`);
  }
  const app = readApp(folder, undefined);
  const findings = examine(app).map(({ finding }) => finding);
  return { title: app.project?.name ?? folder, app, findings, warnings: [] };
}

async function ofRunningApp(
  words: readonly string[],
  options: DoctorOptions,
  context: CommandContext,
): Promise<Examination | undefined> {
  const { signal } = context;
  const target = await resolveTarget(words, options, 'doctor');
  const proves = options.prove === true || options.fix === true;
  // Checked before half a minute of load.
  if (proves) await requireCommitted(target.app.cwd);
  const notes = await applyReplay([target.plan], options, signal);
  if ((options.replay ?? target.plan.replay?.file) !== undefined) target.hasRequests = true;
  if (options.before !== undefined) {
    await runToEnd(parseCommand(options.before), {
      asked: '--before',
      cwd: target.app.cwd,
      signal,
    });
  }
  await checkDatabase(options.database, target.app.cwd);
  const read = readApp(target.app.cwd, target.typed);
  const taken = await measure(target, options, signal);
  if (taken === undefined) return undefined;
  const unexplained = await explainCalls(taken.measured.calls, options.database, target.app.cwd);
  const { tree, lines, measured, microsPerSample } = taken;
  const maps = new SourceMaps();
  const advice = await adviceIn(tree, {
    isCompiledOnLoad: read.start?.words.some((word) => compilers.test(word)) ?? false,
    node: measured.node,
    maps,
    folder: read.folder,
    evidence: join(options.out, 'evidence'),
  });
  const { app, candidates } = withCosts(read, {
    tree,
    lines,
    microsPerSample,
    maps,
    calls: measured.calls,
    advice: advice.found,
  });
  const proved = proves ? await prove(candidates, target, taken, { options, context }) : undefined;
  return {
    title: `${target.typed.command.join(' ')}, ${measured.request}`,
    app,
    started: `${options.cwd === undefined ? '' : `--cwd ${quotedWord(options.cwd)} `}-- ${commandText(target.typed)}`,
    findings: candidates.map(({ finding }) => proved?.findings.get(finding) ?? finding),
    measured,
    ...(taken.framework === undefined ? {} : { framework: taken.framework }),
    ...(proved?.together === undefined ? {} : { together: proved.together }),
    ...(proved?.ladder === undefined ? {} : { ladder: proved.ladder }),
    warnings: [
      ...notes,
      ...taken.warnings,
      ...unexplained,
      ...advice.warnings,
      ...(proved?.warnings ?? []),
    ],
  };
}

const maxMissing = 3;

/** Warns about missing imports: a report on part of an app looks like one on the whole. */
function missingWarning({ missing }: App): string[] {
  if (missing.length === 0) return [];
  const named = missing
    .slice(0, maxMissing)
    .map(({ from, specifier }) => `${specifier} (imported by ${from})`);
  const others = missing.length - named.length;
  const list = `${named.join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
  return [
    `Not read, because ${missing.length === 1 ? 'it does' : 'they do'} not exist: ${list}. If the app has a build step, run it first.`,
  ];
}

/** Packages that compile code as it is loaded: positions in the profile then differ from those in the files. */
const compilers = /(^|[/@-])(tsx|ts-node|swc-node|esbuild-register|jiti)($|\/)/;

/** Refuses options that would have no effect. */
function refuseIdleOptions(words: readonly string[], options: DoctorOptions): void {
  const proves = options.prove === true ? '--prove' : options.fix === true ? '--fix' : undefined;
  if (proves !== undefined && words.length === 0) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `${proves} measures changes: give the command that starts the app, redline doctor ${proves} -- node server.js`,
    );
  }
  if (options.database !== undefined && words.length === 0) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      '--database explains what requests query: give the command that starts the app, redline doctor --database URL -- node server.js',
    );
  }
  const idle = (['test', 'build', 'continue'] as const).find((name) => options[name] !== undefined);
  if (proves === undefined && idle !== undefined) {
    throw new LabError('ERR_REDLINE_OPTION', `--${idle} is for --prove, which is not given.`);
  }
}

async function measure(
  target: TryTarget,
  { seconds, warmup, ...consent }: DoctorOptions,
  signal: AbortSignal,
): Promise<MeasuredApp | undefined> {
  using line = new PhaseLine('doctor');
  const setup = (await target.plan.setup?.()) ?? {};
  try {
    return await measureApp(target, {
      env: setup.env ?? {},
      seconds,
      warmupSeconds: warmup,
      signal,
      // The app runs in one copy at a time.
      screen: new FirstScreen(consent, 1),
      phase: (text) => line.show(text),
      clear: () => line.clear(),
    });
  } finally {
    await setup.stop?.();
  }
}

const helpText = `
Examples:
  redline doctor                             the code that npm start runs, without starting it
  redline doctor -- node dist/main.js        and what each finding costs, under a short load
  redline doctor /feed --md findings.md -- npm run start:prod
  redline doctor --prove --test "npm test" -- npm start

It reads package.json, the code that the command runs, Dockerfile and .nvmrc. Without --fix it changes nothing.

Exit status: 0 done, 1 the app, a check or the load failed, 2 wrong input, 130 interrupted.`;
