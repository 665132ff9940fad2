import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { ownGenerator } from '../load/closed-loop.ts';
import { findWrk } from '../load/wrk.ts';
import { startCoreSpeedProbe } from '../servers/core-speed-probe.ts';
import { readInterference, readMachine } from '../system/machine.ts';
import { pinSelf } from '../system/pinning.ts';
import { SteadyCore } from '../servers/steady-core.ts';
import { seededRandom } from '../stats/random.ts';
import { measureCuts } from './measure-cuts.ts';
import type { Context, StairsListener, StairsObservations, StairsPlan } from './plan.ts';
import { whole } from './preload/protocol.ts';
import { findCommonPath, httpStage, type PathStage } from './common-path.ts';
import { startCut, traceRequest } from './trace-request.ts';
import { type CutReport, FatalCut } from './session.ts';
import { requireCuts, tryCuts } from './try-cuts.ts';
import { watchWaiting } from './waiting.ts';

/** Min share of the requests that must reach a cut for it to be a stage. */
const reachedByMost = 0.9;

/**
 * Traces a few requests, then cuts them at every stage under one load.
 * @throws {LabError} ERR_REDLINE_STAIRS, ERR_REDLINE_SERVER, ERR_REDLINE_LOAD
 */
export async function runStairs(
  plan: StairsPlan,
  listener: StairsListener,
  signal: AbortSignal,
): Promise<StairsObservations> {
  const { target } = plan;
  const pinning = pinSelf(target.pin);
  const setup: SetupResult = (await target.setup?.()) ?? {};
  try {
    const reason = setup.skip?.[target.variant.name];
    if (reason !== undefined) {
      throw new LabError(
        'ERR_REDLINE_STAIRS',
        `"${target.variant.name}" cannot run here: ${reason}.`,
      );
    }
    const context = { env: setup.env ?? {}, pinning, signal };
    const before = readInterference();
    const observed = await observe(plan, context, listener);
    const after = readInterference();
    if (before && after) {
      observed.machine.steal =
        (after.stealTicks - before.stealTicks) / Math.max(1, after.allTicks - before.allTicks);
    }
    return observed;
  } finally {
    await setup.stop?.();
  }
}

async function observe(
  plan: StairsPlan,
  context: Context,
  listener: StairsListener,
): Promise<StairsObservations> {
  const random = seededRandom(plan.seed);
  const observed = await trace(plan, context, listener);
  await using probe = await startCoreSpeedProbe(context.pinning);
  const steadyCore = probe && new SteadyCore(() => probe.read(), context.signal);
  const run = { plan, observed, random, steadyCore, listener, context };
  for (let restart = 0; restart < plan.restarts;) {
    listener.phase('starting');
    await using session = await startCut(plan.target, observed.commonPath, observed.cuts, context);
    observed.node = session.node;
    observed.hasThreadClock = session.hasThreadClock;
    try {
      if (restart === 0) {
        listener.phase('trying every cut');
        await tryCuts(session, plan, observed);
        Object.assign(observed, await watchWaiting(session, plan));
      }
      await measureCuts({ ...run, session });
      restart++;
    } catch (error) {
      if (!(error instanceof FatalCut)) throw error;
      // An app that fails at one cut is started again without it: all other stages can still be measured.
      dropFatalCut(observed, error.report);
      observed.restarts = [];
      observed.endings = [];
      observed.memory = [];
      restart = 0;
    }
  }
  observed.disturbedShare = steadyCore?.lostShare ?? 0;
  dropUnreached(observed);
  requireFigures(observed, plan);
  return observed;
}

/** Finds the stages of the request, before any measurement. */
async function trace(
  plan: StairsPlan,
  context: Context,
  listener: StairsListener,
): Promise<StairsObservations> {
  listener.phase('tracing a request');
  const seen = await traceRequest(plan.target, context);
  const commonPath = findCommonPath(seen);
  const chosen = withoutSkipped(commonPath.stages, plan.skip);
  if (commonPath.stages.length === 0) {
    throw new LabError('ERR_REDLINE_STAIRS', nothingToCut(plan.target));
  }
  listener.traced?.([httpStage, ...commonPath.stages.map(({ name }) => name)]);
  return {
    commonPath,
    frameworks: seen[0]!.frameworks,
    unreadable: seen[0]!.unreadable,
    ...chosen,
    restarts: [],
    endings: [],
    marks: [],
    requests: [],
    memory: [],
    rounds: 0,
    guardMs: 0,
    countedMs: 0,
    node: '',
    hasThreadClock: true,
    generator: findWrk(1) ?? ownGenerator(),
    machine: readMachine(placement(context)),
    disturbedShare: 0,
  };
}

function dropFatalCut(observed: StairsObservations, { cut, message }: CutReport): void {
  if (!observed.cuts.includes(cut)) {
    throw new LabError('ERR_REDLINE_STAIRS', `The app did not survive ended requests: ${message}`);
  }
  const [what] = message.split('\n');
  observed.cuts = observed.cuts.filter((each) => each !== cut);
  observed.leftOut.push({
    name: observed.commonPath.stages[cut]!.name,
    reason: what!,
  });
  requireCuts(observed);
}

/** Fails if nothing was measured: the report would be a table of dashes. */
function requireFigures(
  { restarts, cuts }: StairsObservations,
  { target, seconds }: StairsPlan,
): void {
  const counted = (cut: number): number =>
    restarts.flat().reduce((sum, each) => sum + (each.cut === cut ? each.requests : 0), 0);
  if (counted(whole) > 0 && cuts.some((cut) => counted(cut) > 0)) return;
  throw new LabError(
    'ERR_REDLINE_STAIRS',
    `No slice of ${target.asked} contained a whole request: the route is too slow for ${seconds} s of measuring. Give it more time: --seconds ${seconds * 4}`,
  );
}

function nothingToCut({ asked, replayed }: StairsPlan['target']): string {
  return replayed !== undefined && replayed.traced.length > 1
    ? `${asked} have no function in common that can be cut; measure one route with --route, as redline top prints it.`
    : `${asked} entered no function that can be cut: is the app's own code inside node_modules?`;
}

function placement({ pinning }: Context): string {
  return pinning.cores === undefined
    ? pinning.description
    : `server and load take turns on core ${pinning.cores.server}`;
}

function withoutSkipped(
  stages: readonly PathStage[],
  skip: readonly string[],
): Pick<StairsObservations, 'cuts' | 'leftOut'> {
  const unknown = skip.find((name) => stages.every((stage) => stage.name !== name));
  if (unknown !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--skip "${unknown}" is never reached; the stages are ${stages.map(({ name }) => name).join(', ')}.`,
    );
  }
  const all = stages.map((_, index) => index);
  return {
    cuts: all.filter((index) => !skip.includes(stages[index]!.name)),
    leftOut: skip.map((name) => ({ name, reason: 'left out with --skip' })),
  };
}

/**
 * Drops cuts that too few requests reach: the response comes from elsewhere under load, or the code runs only now and then. Its
 * cost joins the stage before.
 */
function dropUnreached(observed: StairsObservations): void {
  const { stages } = observed.commonPath;
  const slices = observed.restarts.flat();
  for (const cut of observed.cuts) {
    const own = slices.filter((slice) => slice.cut === cut);
    const requests = own.reduce((sum, slice) => sum + slice.requests, 0);
    const share = own.reduce((sum, slice) => sum + slice.stubs, 0) / requests;
    if (requests === 0 || share >= reachedByMost) continue;
    observed.cuts = observed.cuts.filter((each) => each !== cut);
    const percent = Math.round(share * 100);
    observed.leftOut.push({
      name: stages[cut]!.name,
      reason: `reached by ${percent} % of the requests under load`,
    });
  }
  if (observed.cuts.length === 0) {
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      'Under load no stage was reached by all requests: there is nothing to measure.',
    );
  }
}
