import type { Command } from 'commander';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { applyReplay } from '../access-log/apply-replay.ts';
import { measure } from '../bench/measure-plans.ts';
import type { BenchResult } from '../bench/result.ts';
import type { CommandContext } from '../command/context.ts';
import { parseCount, parseSeconds, parseSeed } from '../command/options.ts';
import { addTarget, collect } from '../command/target-options.ts';
import { addReports, type ReportOptions, writeDocument } from '../command/write-files.ts';
import { type CommandLine, parseCommand } from '../config/command-line.ts';
import type { Plan } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { PhaseLine } from '../report/phase-line.ts';
import { invocation, withoutSecrets } from '../secrets.ts';
import { label } from '../servers/contract.ts';
import { nodeCommandOf } from '../project/node-command.ts';
import { runToEnd } from '../system/run-to-end.ts';
import { unchanged, variantOf, withRedline } from './app.ts';
import { busiestRoute } from './choose-request.ts';
import { addDocker, refuseWithoutDocker, requireLinux, runInDocker } from './docker/command.ts';
import type { DockerOptions } from './docker/in-container.ts';
import { addConsent, type ConsentOptions, FirstScreen } from './first-screen.ts';
import { keepLines } from './keep.ts';
import { type Prepared, prepare } from './prepare.ts';
import { paceOf, timeLimitMsOf } from './pace.ts';
import { tryDocument } from './report/try-document.ts';
import type { TryResult } from './result.ts';
import { resolveTarget, type TargetOptions, type TryTarget } from './target.ts';
import { verdictOf } from './verdict.ts';

interface TryOptions extends TargetOptions, ReportOptions, ConsentOptions, DockerOptions {
  log?: string;
  before?: string;
  seconds?: number;
  restarts?: number;
  seed?: number;
}

const defaultSeconds = 60;
/** The app unchanged, the same again, and with redline. */
const maxCopies = 3;

export function addTryCommand(program: Command, context: CommandContext): void {
  const command = addTarget(program.command('try'), 'URLs or paths of the app to request')
    .description('measure what redline gains for an app, without changing it')
    .option('--log <file>', 'request the busiest GET route of this access log')
    .option('--har <file>', 'request what a browser has recorded in this file')
    .option('--record [seconds]', 'pass on your own requests for 30 s, and use those')
    .option('--allow <what>', 'with both: send this too, e.g. "POST /search"; repeatable', collect)
    .option('--login <request>', `log in first, e.g. 'POST /login {"user":"me"}'`)
    .option('--variant <name>', 'variant of the config (default: the baseline)')
    .option('--cwd <folder>', 'folder of the app, e.g. of a workspace (default: the current one)')
    .option('--before <command>', 'run this first, e.g. "docker compose up -d --wait"')
    .option(
      '--seconds <n>',
      `time for everything, in seconds (default: ${defaultSeconds})`,
      parseSeconds,
    )
    .option('--restarts <n>', 'fresh starts of every server (default: as many as fit)', parseCount)
    .option('--seed <n>', 'seed of the order and the resampling, to repeat a run', parseSeed);
  addReports(addConsent(addDocker(command)))
    .addHelpText('after', helpText)
    .action((target: string, words: string[], options: TryOptions, own: Command) => {
      refuseWithoutDocker(options);
      return options.docker === undefined
        ? run(own.args, options, context)
        : runInDocker(own.args, own, context);
    });
}

async function run(
  words: readonly string[],
  options: TryOptions,
  context: CommandContext,
): Promise<void> {
  const startedAt = new Date();
  const { signal } = context;
  const target = await resolveTarget(words, options);
  const { requestsFrom, notes } = await readLog(target, options, signal);
  if (options.dryRun !== true) requireLinux();
  if (options.before !== undefined) {
    await runToEnd(parseCommand(options.before), {
      asked: '--before',
      cwd: target.app.cwd,
      signal,
    });
  }
  const setup = (await target.plan.setup?.()) ?? {};
  try {
    const screen = new FirstScreen(options, maxCopies);
    const prepared = await prepareRun(target, setup.env ?? {}, screen, { options, signal });
    if (prepared === undefined) return;
    const plan = planOf(target, prepared, options);
    const { refusal } = prepared;
    if (refusal !== undefined) notes.push(oneAtATime(refusal));
    const measured = { ...plan, setup: () => ({ env: setup.env ?? {} }) };
    const bench = await measure('bench', plan.title, [measured], { context, startedAt, notes });
    const result = resultOf(target, prepared, bench, requestsFrom ?? prepared.why ?? '');
    const stem = `${bench.scenario}-${bench.runId}`;
    await writeDocument({ stem, json: result, document: tryDocument(result) }, options);
  } finally {
    await setup.stop?.();
  }
}

/** Uses the requests of a log instead of the plan's. */
async function readLog(
  target: TryTarget,
  { log, replay, route, ...options }: TryOptions,
  signal: AbortSignal,
): Promise<{ requestsFrom: string | undefined; notes: string[] }> {
  if (log !== undefined && (target.isRecorded || target.record !== undefined)) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      '--log chooses the requests, and so does a recording: omit one of them.',
    );
  }
  if (log !== undefined && (replay !== undefined || route !== undefined || target.hasRequests)) {
    const other = replay !== undefined ? '--replay' : route !== undefined ? '--route' : 'a request';
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--log chooses the requests, and so does ${other}: omit one of them.`,
    );
  }
  const busiest = log === undefined ? undefined : await busiestRoute(resolve(log), signal);
  const chosen = busiest === undefined ? { replay, route } : { replay: log, route: busiest.route };
  const hadReplay = (chosen.replay ?? target.plan.replay?.file) !== undefined;
  const notes = await applyReplay([target.plan], { ...options, ...definedOf(chosen) }, signal);
  if (hadReplay) target.hasRequests = true;
  return { requestsFrom: busiest?.why, notes };
}

function definedOf(chosen: {
  replay: string | undefined;
  route: string | undefined;
}): Pick<TryOptions, 'replay' | 'route'> {
  const { replay, route } = chosen;
  return { ...(replay === undefined ? {} : { replay }), ...(route === undefined ? {} : { route }) };
}

async function prepareRun(
  target: TryTarget,
  env: Record<string, string>,
  screen: FirstScreen,
  { options: { restarts, seconds }, signal }: { options: TryOptions; signal: AbortSignal },
): Promise<Prepared | undefined> {
  using line = new PhaseLine('try');
  const startedAt = performance.now();
  return await prepare(target, {
    env,
    signal,
    screen,
    paceFor: (speed) =>
      paceOf(target.plan, speed, {
        // The time a user spends reading the first screen does not count.
        leftMs: Math.max(
          0,
          (seconds ?? defaultSeconds) * 1_000 + screen.waitedMs - (performance.now() - startedAt),
        ),
        isChosen: seconds !== undefined,
        restarts,
        coreCount: availableParallelism(),
      }),
    isTimed: restarts === undefined,
    phase: (text) => line.show(text),
    clear: () => line.clear(),
  });
}

function oneAtATime(refusal: string): string {
  return `The app cannot run twice (${refusal}), so that its copies ran one at a time, alternating: what the machine did meanwhile widens the intervals.`;
}

/** Plans two variants of one app; the runner adds the first once more, as the control. */
function planOf(
  { plan, app, typed }: TryTarget,
  { requests, preloads, redirecting: main, pace, announcedAt, refusal }: Prepared,
  { restarts }: TryOptions,
): Plan {
  const { precision, connections, turns, passes, minRestarts } = pace;
  const spentMs = performance.now() - announcedAt;
  // The servers run side by side on different ports. An app that reads `PORT` needs no redirect.
  const redirecting = main === undefined ? undefined : { main };
  const asked = plan.requestLabel ?? requests.map(label).join(', ');
  return {
    ...plan,
    name: `${plan.name}-try`,
    title: `${typedText(typed)}, ${asked}`,
    group: undefined,
    requests,
    variants: [
      variantOf(app, unchanged, [], redirecting),
      variantOf(app, withRedline, preloads, redirecting),
    ],
    baseline: unchanged,
    precision: { ...precision, passes },
    connections,
    turns,
    timeLimitMs: Math.max(0, timeLimitMsOf(pace) - spentMs),
    ...(refusal === undefined ? {} : { oneAtATime: true }),
    ...(restarts === undefined
      ? { until: Date.now() + pace.estimateMs - spentMs, minRestarts }
      : { waitsForFirst: true }),
  };
}

function typedText({ command, env }: CommandLine): string {
  return [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...command].join(' ');
}

function resultOf(
  { typed, project }: TryTarget,
  { main, isFixed, compared, preloads, speed }: Prepared,
  bench: BenchResult,
  requestsFrom: string,
): TryResult {
  const { title, runId, redlineVersion, startedAt, durationSeconds } = bench;
  const nodeCommand = nodeCommandOf(typed, project);
  return withoutSecrets({
    schema: 1,
    command: 'try',
    title,
    invocation: invocation(),
    runId,
    redlineVersion,
    startedAt,
    durationSeconds,
    app: {
      command: typedText(typed),
      ...(nodeCommand === undefined || nodeCommand === typedText(typed) ? {} : { nodeCommand }),
      ...frameworkOf(main, project),
      node: main.node.replace(/^v/, ''),
      ...(isFixed && typeof main.asked === 'number' && main.asked > 0 ? { port: main.asked } : {}),
    },
    requestsFrom,
    response: { tookMs: speed.tookMs, cpuMs: speed.cpuMs },
    compared,
    packages: preloads.map(({ name, version, from }) => ({ name, version, from })),
    word: verdictOf(bench),
    keep: keepLines(typed, project, preloads),
    bench,
  });
}

/** Takes the framework from the listener; from package.json for frameworks that listeners do not show. */
function frameworkOf(
  { framework: seen }: Prepared['main'],
  project: TryTarget['project'],
): { framework?: string } {
  const named = project?.framework;
  const isVisible = named !== undefined && /^(Express|Fastify|Koa|Nest.*)$/.test(named);
  const framework = seen ?? (isVisible ? undefined : named);
  return framework === undefined ? {} : { framework };
}

const helpText = `
Examples:
  redline try -- node dist/main.js
  redline try -- npm start
  redline try /feed --before "docker compose up -d --wait" -- npm run start:prod
  redline try --log access.log -- node server.js
  redline try --login 'POST /login {"user":"me","password":"secret"}' /orders -- npm start
  redline try --har shop.har -- npm start
  redline try --record -- npm start
  redline try --docker -- npm start
  redline try --docker --image my-app --env-file .env.local -- node dist/main.js

Without a command it tries the config of the folder, or the start script of its package.json.

Exit status: 0 measured, 1 the app, a check or the load failed, or redline cannot serve it, 2 wrong input, 130 interrupted.`;
