import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { autocannonGenerator } from '../load/autocannon.ts';
import type { LoadGenerator } from '../load/generator.ts';
import { findWrk } from '../load/wrk.ts';
import type { MachineFacts } from '../result.ts';
import { label, send } from '../run/contract.ts';
import { readInterference, readMachine } from '../run/machine.ts';
import { pinSelf, type Pinning } from '../run/pinning.ts';
import { mean } from '../stats/quantile.ts';
import { seededRandom } from '../stats/random.ts';
import { checkRoute } from './check-route.ts';
import { chooseStages } from './choose-stages.ts';
import { type CutSlice, type Trace, whole, wholeAgain } from './preload/protocol.ts';
import { shuffledRounds } from './schedule.ts';
import { CrashUnderCut, Session } from './session.ts';
import { findSpine, type Spine, type SpineStage } from './spine.ts';
import type { StairsTarget } from './target.ts';

export interface StairsPlan {
  target: StairsTarget;
  /** Of measuring, over all restarts; starts and warm-up come on top. */
  seconds: number;
  restarts: number;
  /** More stages than this are measured together with their neighbours, the cheapest first. */
  mostStages: number;
  /** Names of stages that are not cut. */
  skip: readonly string[];
  seed: number;
}

export interface StairsListener {
  phase(text: string): void;
  /** A round was measured, of so many in all restarts. */
  round(done: number, of: number): void;
}

export interface StairsObservations {
  spine: Spine;
  frameworks: string[];
  unreadable: string[];
  /** Those that were cut, in the order of the request; their index is in `spine.stages`. */
  cuts: number[];
  leftOut: { name: string; reason: string }[];
  /** Slices of each restart. */
  restarts: CutSlice[][];
  rounds: number;
  guardMs: number;
  countedMs: number;
  node: string;
  hasThreadClock: boolean;
  generator: LoadGenerator;
  machine: MachineFacts;
}

/** Length of a slice; its first part is the guard. */
const sliceMs = 80;
const leastGuardMs = 6;
const mostGuardMs = 120;
const leastCountedMs = 50;
/** Timers are late by this, all in all, once a slice. */
const timerSlopMs = 2;
const traces = 3;
const warmupMs = 1_500;
/** Rounds that are run and not counted: the code behind a cut is compiled when it is first cut. */
const settlingRounds = 3;
/** Share of the time that chooses among too many stages. */
const pilotShare = 0.2;
/** A cut that fewer of the requests reach is no stage of the request. */
const reachedByMost = 0.9;
const failedTooOften = 0.01;
const cutTimeoutMs = 3_000;

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
      throw new LabError('ERR_REDLINE_STAIRS', `"${target.variant.name}" cannot run here: ${reason}.`);
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

interface Context {
  env: Record<string, string>;
  pinning: Pinning;
  signal: AbortSignal;
}

async function observe(
  plan: StairsPlan,
  context: Context,
  listener: StairsListener,
): Promise<StairsObservations> {
  listener.phase('tracing a request');
  const seen = await traceRequest(plan.target, context);
  const spine = findSpine(seen);
  const { cuts, leftOut } = withoutSkipped(spine.stages, plan.skip);
  if (spine.stages.length === 0) {
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      `${label(plan.target.request)} entered no function that could be cut: is the app's own code inside node_modules?`,
    );
  }
  const random = seededRandom(plan.seed);
  const observed: StairsObservations = {
    spine,
    frameworks: seen[0]!.frameworks,
    unreadable: seen[0]!.unreadable,
    cuts,
    leftOut,
    restarts: [],
    rounds: 0,
    guardMs: leastGuardMs,
    countedMs: sliceMs - leastGuardMs,
    node: '',
    hasThreadClock: true,
    generator: findWrk(1) ?? autocannonGenerator(),
    machine: readMachine(context.pinning.description),
  };
  for (let restart = 0; restart < plan.restarts; restart++) {
    listener.phase('starting');
    await using session = await startCut(plan.target, spine, context);
    observed.node = session.node;
    observed.hasThreadClock = session.hasThreadClock;
    if (restart === 0) {
      listener.phase('trying every cut');
      await tryCuts(session, plan, observed);
    }
    await explained(measure(session, plan, observed, random, listener, context), spine);
  }
  dropUnreached(observed);
  return observed;
}

async function traceRequest(target: StairsTarget, context: Context): Promise<Trace[]> {
  await using session = await Session.start(
    target,
    { phase: 'trace', stages: {}, guards: [], followsAsync: true },
    context,
  );
  await checkRoute(session, target.request);
  const seen: Trace[] = [];
  for (let count = 0; count < traces; count++) {
    await session.ask({ type: 'trace' }, 'tracing');
    await send(session.port, target.request);
    seen.push((await session.ask({ type: 'report' }, 'trace')).trace);
  }
  return seen;
}

function startCut(target: StairsTarget, spine: Spine, context: Context): Promise<Session> {
  const stages = Object.fromEntries(spine.stages.map(({ id }, index) => [id, index]));
  const { guards, followsAsync } = spine;
  return Session.start(target, { phase: 'cut', stages, guards, followsAsync }, context);
}

function withoutSkipped(
  stages: readonly SpineStage[],
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

/** Each once, before there is load: an app that cannot stand a cut should say so in a second, not in a minute. */
async function tryCuts(
  session: Session,
  { target }: StairsPlan,
  observed: StairsObservations,
): Promise<void> {
  const { stages } = observed.spine;
  // The first requests of a fresh server may take another way.
  await checkRoute(session, target.request);
  for (const cut of [...observed.cuts]) {
    const { stubs } = await session.ask({ type: 'hold', cut }, 'held');
    const answer = await send(session.port, target.request, cutTimeoutMs).catch((error: Error) => error);
    const after = await explained(session.ask({ type: 'hold', cut: whole }, 'held'), observed.spine);
    const drop = (reason: string): void => {
      observed.cuts = observed.cuts.filter((each) => each !== cut);
      observed.leftOut.push({ name: stages[cut]!.name, reason });
    };
    if (after.stubs === stubs) drop('never reached once it could have been cut');
    else if (answer instanceof Error) drop(`a request that ended there got no answer (${answer.message})`);
  }
  if (observed.cuts.length === 0) {
    throw new LabError('ERR_REDLINE_STAIRS', 'None of the stages can be cut, so there is nothing to measure.');
  }
}

async function measure(
  session: Session,
  plan: StairsPlan,
  observed: StairsObservations,
  random: () => number,
  listener: StairsListener,
  { signal }: Context,
): Promise<void> {
  const load = new AbortController();
  const { target } = plan;
  const running = observed.generator.run({
    port: session.port,
    requests: [target.request],
    connections: target.connections,
    durationMs: 600_000,
    signal: AbortSignal.any([load.signal, signal]),
  });
  // Ends by being aborted; when it ends by itself, something is wrong.
  const broken = running.then(
    () => new LabError('ERR_REDLINE_LOAD', 'The load ended before the measurement did.'),
    (error: unknown) => error,
  );
  try {
    await Promise.race([rotateAll(), broken.then((error) => Promise.reject(asError(error)))]);
  } catch (error) {
    if (session.server.hasEnded) throw await session.crash();
    throw error;
  } finally {
    load.abort();
    await broken;
  }

  async function rotateAll(): Promise<void> {
    listener.phase('warming up');
    const warm = await slicesOf(session, [Array.from({ length: warmupMs / 100 }, () => whole)], {
      guardMs: 1,
      countedMs: 99,
    });
    session.server.pin();
    const settled = await slicesOf(session, [[whole, whole, whole]], { guardMs: 1, countedMs: 99 });
    requireGoodAnswers([...warm, ...settled], target.request);
    const slice = sliceFor(settled, target.connections);
    Object.assign(observed, slice);
    const length = slice.guardMs + slice.countedMs + timerSlopMs;
    await slicesOf(session, shuffledRounds(withWhole(observed.cuts), settlingRounds, random), {
      guardMs: 2,
      countedMs: length / 2,
    });
    session.server.dropOutput();
    let budgetMs = (plan.seconds * 1_000) / plan.restarts;
    if (observed.cuts.length > plan.mostStages) {
      const pilot = await rounds(pilotShare * budgetMs, length, () => listener.phase('choosing stages'));
      observed.cuts = chooseStages(pilot, observed.cuts, plan.mostStages);
      budgetMs *= 1 - pilotShare;
    }
    observed.restarts.push(
      await rounds(budgetMs, length, (done, of) => {
        observed.rounds = of;
        listener.round(done + (observed.restarts.length) * of, of * plan.restarts);
        session.server.dropOutput();
      }),
    );
  }

  async function rounds(
    budgetMs: number,
    lengthMs: number,
    onRound: (done: number, of: number) => void,
  ): Promise<CutSlice[]> {
    const cuts = withWhole(observed.cuts);
    const count = Math.max(3, Math.floor(budgetMs / lengthMs / cuts.length));
    let done = 0;
    return slicesOf(session, shuffledRounds(cuts, count, random), observed, () => onRound(++done, count));
  }
}

async function slicesOf(
  session: Session,
  rounds: number[][],
  { guardMs, countedMs }: { guardMs: number; countedMs: number },
  onRound: () => void = () => {},
): Promise<CutSlice[]> {
  const slices: CutSlice[] = [];
  await session.rotate(rounds, { guardMs, countedMs }, (message) => {
    slices.push(...message.slices);
    onRound();
  });
  return slices;
}

function withWhole(cuts: readonly number[]): number[] {
  return [...cuts, whole, wholeAgain];
}

/** Long enough that nothing of the last slice is under way any more: connections in flight leave at the rate of answers. */
function sliceFor(slices: readonly CutSlice[], connections: number): { guardMs: number; countedMs: number } {
  const rps = mean(slices.map(({ requests, seconds }) => requests / seconds));
  const latencyMs = (connections / rps) * 1_000;
  const guardMs = Math.ceil(Math.min(mostGuardMs, Math.max(leastGuardMs, 3 * latencyMs)));
  return { guardMs, countedMs: Math.max(leastCountedMs, sliceMs - guardMs) };
}

function requireGoodAnswers(slices: readonly CutSlice[], request: StairsTarget['request']): void {
  const requests = slices.reduce((sum, slice) => sum + slice.requests, 0);
  const failures = slices.reduce((sum, slice) => sum + slice.failures, 0);
  if (requests === 0) {
    throw new LabError('ERR_REDLINE_STAIRS', `Nothing was answered while ${label(request)} was sent under load.`);
  }
  if (failures / requests > failedTooOften) {
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      `Under load ${failures} of ${requests} answers to ${label(request)} have a status of 400 or more (a rate limit?): the figures would be those of a refusal.`,
    );
  }
}

/** Served from elsewhere under load, or only now and then: what lies behind it belongs to the stage before. */
function dropUnreached(observed: StairsObservations): void {
  const { stages } = observed.spine;
  const slices = observed.restarts.flat();
  for (const cut of [...observed.cuts]) {
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
    throw new LabError('ERR_REDLINE_STAIRS', 'Under load no stage was reached by all requests: there is nothing to measure.');
  }
}

/** A crash in the words of the stages. */
async function explained<T>(work: Promise<T>, { stages }: Spine): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof CrashUnderCut)) throw error;
    const { cut, message } = error.report;
    const name = stages[cut]?.name ?? `cut ${cut}`;
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      `The app crashed when requests ended at "${name}": ${message}\nLeave that stage out: --skip ${JSON.stringify(name)}`,
      { cause: error },
    );
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
