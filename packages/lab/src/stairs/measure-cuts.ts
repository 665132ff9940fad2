import { type Random, shuffled } from '../stats/random.ts';
import { LabError } from '../errors.ts';
import { takeTurns } from '../system/pinning.ts';
import type { SteadyCore } from '../servers/steady-core.ts';
import { mean } from '../stats/order-statistics.ts';
import { lowestQuarterMean } from '../stats/location.ts';
import { MeasuredRounds } from './measured-rounds.ts';
import type { Context, StairsListener, StairsObservations, StairsPlan } from './plan.ts';
import { type CutSlice, whole, wholeAgain } from './preload/protocol.ts';
import type { SliceShape } from './preload/rotation.ts';
import type { Session } from './session.ts';
import type { StairsTarget } from './target.ts';

/**
 * Slices are short, so that many stay undisturbed, and long enough for this many requests; a route that waits gets fewer, as a
 * round of twenty stages would otherwise take ten seconds. The first part of a slice is its guard.
 */
const requestsPerSlice = 200;
const minRequestsPerSlice = 40;
const minCountedMs = 28;
const amplyCountedMs = 120;
const maxCountedMs = 1_000;
const minGuardMs = 4;
const maxGuardMs = 400;
/** Total delay of timers, once per slice. */
const timerSlopMs = 2;
/** Rounds that are run and not counted: the code at a cut is compiled when it is first cut. */
const warmUpRounds = 3;
const minRounds = 3;
/** Timed slices of each cut, a third as long: a few determine the cost of ending to a tenth of a µs. */
const endingRounds = 4;
/** Extra time in which memory is counted, as a share of the measuring time, in slices that hold some collections. */
const memoryShare = 0.1;
const minMemoryMs = 60;
const maxMemoryMs = 250;
const minMemoryRounds = 3;
const maxMemoryRounds = 12;
/** Share of the time used to select among too many stages. */
const pilotShare = 0.2;
const failedTooOften = 0.01;

/** One start of the app, with the run it belongs to. */
interface CutStart {
  session: Session;
  plan: StairsPlan;
  /** Receives the measurements. */
  observed: StairsObservations;
  random: Random;
  steadyCore: SteadyCore | undefined;
  listener: StairsListener;
  context: Context;
}

/** Holds each cut in turn, under one load that never stops. */
export async function measureCuts(start: CutStart): Promise<void> {
  const { session, observed } = start;
  const { target } = start.plan;
  const { pinning, signal } = start.context;
  const load = new AbortController();
  const running = observed.generator.run({
    host: session.server.host,
    port: session.server.port,
    requests: target.replayed?.load ?? [target.request],
    connections: target.connections,
    pipeline: 1,
    durationMs: 600_000,
    launcher: takeTurns(pinning, session.pid),
    signal: AbortSignal.any([load.signal, signal]),
  });
  // The load ends when it is aborted; ending by itself is an error.
  const broken = running.then(
    () => new LabError('ERR_REDLINE_LOAD', 'The load ended before the measurement.'),
    (error: unknown) => error,
  );
  try {
    await Promise.race([rotateAll(start), broken.then((error) => Promise.reject(asError(error)))]);
  } catch (error) {
    if (session.server.hasEnded) throw await session.crash();
    throw error;
  } finally {
    load.abort();
    await broken;
  }
}

async function rotateAll(start: CutStart): Promise<void> {
  const { session, plan, observed, listener } = start;
  const lengthMs = await calibrate(start);
  session.server.dropOutput();
  let budgetMs = (plan.seconds * 1_000) / plan.restarts;
  if (observed.cuts.length > plan.maxStages) {
    const pilotMs = pilotShare * budgetMs;
    const pilot = await rounds(start, { budgetMs: pilotMs, lengthMs }, () =>
      listener.phase('choosing stages'),
    );
    observed.cuts = chooseStages(pilot, observed.cuts, plan.maxStages);
    budgetMs -= pilotMs;
  }
  observed.restarts.push(
    await rounds(start, { budgetMs, lengthMs }, (done, of) => {
      observed.rounds = done;
      listener.round(done + observed.restarts.length * of, of * plan.restarts);
      session.server.dropOutput();
    }),
  );
  listener.phase('counting memory');
  observed.memory.push(await memorySlices(start, budgetMs));
}

/** Counts memory after all that is timed, because counting costs time. */
function memorySlices(
  { session, observed, random }: CutStart,
  budgetMs: number,
): Promise<CutSlice[]> {
  const { guardMs } = observed;
  const countedMs = Math.min(maxMemoryMs, Math.max(minMemoryMs, observed.countedMs));
  const cuts = [...observed.cuts, whole];
  const fitting = Math.floor((memoryShare * budgetMs) / (guardMs + countedMs) / cuts.length);
  const count = Math.min(maxMemoryRounds, Math.max(minMemoryRounds, fitting));
  const shape = { guardMs, countedMs, countsMemory: true };
  return slicesOf(session, shuffledRounds(cuts, count, random), shape);
}

/**
 * Warms up, chooses the length of slices, and times the endings.
 * @returns the length of a slice
 */
async function calibrate({ session, plan, observed, random, listener }: CutStart): Promise<number> {
  listener.phase('warming up');
  const tenths = Math.ceil(plan.warmupSeconds * 10);
  const warm = await slicesOf(session, [Array.from({ length: tenths }, () => whole)], {
    guardMs: 1,
    countedMs: 99,
  });
  const trial = await slicesOf(session, [[whole, whole, whole]], { guardMs: 1, countedMs: 99 });
  requireGoodAnswers([...warm, ...trial], plan.target);
  const slice = sliceFor(trial, plan.target.connections);
  observed.guardMs = slice.guardMs;
  observed.countedMs = slice.countedMs;
  const lengthMs = slice.guardMs + slice.countedMs + timerSlopMs;
  await slicesOf(session, shuffledRounds(withWhole(observed.cuts), warmUpRounds, random), {
    guardMs: 2,
    countedMs: lengthMs / 2,
  });
  observed.endings.push(
    ...(await slicesOf(session, shuffledRounds(observed.cuts, endingRounds, random), {
      ...slice,
      countedMs: slice.countedMs / 3,
      timesEndings: true,
    })),
  );
  return lengthMs;
}

async function rounds(
  { session, observed, random, steadyCore }: CutStart,
  { budgetMs, lengthMs }: { budgetMs: number; lengthMs: number },
  onRound: (done: number, of: number) => void,
): Promise<CutSlice[]> {
  const cuts = withWhole(observed.cuts);
  const count = Math.max(minRounds, Math.floor(budgetMs / lengthMs / cuts.length));
  const measured = new MeasuredRounds(session, observed, steadyCore);
  const slices: CutSlice[] = [];
  const startedAt = performance.now();
  for (const [index, round] of shuffledRounds(cuts, count, random).entries()) {
    slices.push(...(await measured.measure(round, index)));
    onRound(index + 1, count);
    // On a crowded machine timers are late, and slices longer than intended.
    const tookMs = performance.now() - startedAt - measured.lostMs;
    if (tookMs >= budgetMs && index + 1 >= minRounds) break;
  }
  return slices;
}

async function slicesOf(
  session: Session,
  cuts: number[][],
  {
    guardMs,
    countedMs,
    timesEndings = false,
    countsMemory = false,
  }: Partial<SliceShape> & Pick<SliceShape, 'guardMs' | 'countedMs'>,
): Promise<CutSlice[]> {
  const slices: CutSlice[] = [];
  await session.rotate(cuts, { guardMs, countedMs, timesEndings, countsMemory }, (message) => {
    slices.push(...message.slices);
  });
  return slices;
}

function withWhole(cuts: readonly number[]): number[] {
  return [...cuts, whole, wholeAgain];
}

/**
 * Chooses a guard long enough that no request of the previous slice is in flight any more: connections in flight finish at the rate
 * of responses.
 */
function sliceFor(
  slices: readonly CutSlice[],
  connections: number,
): { guardMs: number; countedMs: number } {
  const rps = mean(slices.map(({ requests, seconds }) => requests / seconds));
  const latencyMs = (connections / rps) * 1_000;
  const guardMs = Math.ceil(Math.min(maxGuardMs, Math.max(minGuardMs, 2 * latencyMs)));
  const lengthOf = (requests: number): number => Math.ceil((requests / rps) * 1_000);
  const countedMs = Math.min(
    lengthOf(requestsPerSlice),
    Math.max(amplyCountedMs, lengthOf(minRequestsPerSlice)),
  );
  return { guardMs, countedMs: Math.min(maxCountedMs, Math.max(minCountedMs, countedMs)) };
}

function requireGoodAnswers(slices: readonly CutSlice[], { asked }: StairsTarget): void {
  const requests = slices.reduce((sum, slice) => sum + slice.requests, 0);
  const failures = slices.reduce((sum, slice) => sum + slice.failures, 0);
  if (requests === 0) {
    throw new LabError('ERR_REDLINE_STAIRS', `The app did not respond to ${asked} under load.`);
  }
  if (failures / requests > failedTooOften) {
    throw new LabError(
      'ERR_REDLINE_STAIRS',
      `Under load ${failures} of ${requests} responses to ${asked} have a status of 400 or above (a rate limit?): the figures would describe failing requests.`,
    );
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Shuffles rounds that each hold every cut once, so that drift affects all of them alike. */
function shuffledRounds(cuts: readonly number[], count: number, random: Random): number[][] {
  return Array.from({ length: count }, () => shuffled(cuts, random));
}

/**
 * Selects the cuts worth their time: those with the cheapest stages are dropped until few enough are left, and their cost joins the
 * stage before. The first always stays: it is where the request begins.
 * @param pilot A short first measurement. Its figures are used for nothing else, so that the selection does not bias the result.
 */
export function chooseStages(
  pilot: readonly CutSlice[],
  cuts: readonly number[],
  maxStages: number,
): number[] {
  const level = new Map(
    [...cuts, whole].map((cut) => [
      cut,
      lowestQuarterMean(
        pilot
          .filter((slice) => slice.cut === cut && slice.requests > 0)
          .map((slice) => slice.threadMicros / slice.requests),
      ),
    ]),
  );
  const kept = [...cuts];
  const costOf = (index: number): number =>
    level.get(kept[index + 1] ?? whole)! - level.get(kept[index]!)!;
  while (kept.length > maxStages) {
    let cheapest = 1;
    for (let index = 2; index < kept.length; index++) {
      if (Math.abs(costOf(index)) < Math.abs(costOf(cheapest))) cheapest = index;
    }
    kept.splice(cheapest, 1);
  }
  return kept;
}
