import type { Plan } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { undiciGenerator } from '../load/undici.ts';
import { findWrk } from '../load/wrk.ts';
import { startCanary } from '../servers/canary.ts';
import { type Contestant, Fleet } from '../servers/fleet.ts';
import { Undisturbed } from '../servers/undisturbed.ts';
import { type Random, seededRandom, shuffled } from '../stats/random.ts';
import { readInterference, readMachine } from '../system/machine.ts';
import { pinSelf } from '../system/pinning.ts';
import { measureRestart, type Restart } from './measure-restart.ts';
import { controlName, type Observations, type RunListener } from './observations.ts';
import { restartsThatFit } from './restarts-that-fit.ts';
import { untilTimeIsOver } from './until-time-is-over.ts';

/** wrk feeds several servers' worth of cores with one thread; more threads than that only contend. */
const mostGeneratorThreads = 4;

/**
 * Restarts × blocks: every restart starts all contestants, each block measures each of them once, in a new order. At
 * the end, or on abort, everything started has been stopped.
 * @param plans One for each group. They share the set-up, and run one after the other.
 */
export async function runBench(
  plans: readonly Plan[],
  listen: (plan: Plan) => RunListener,
  signal: AbortSignal,
): Promise<Observations[]> {
  const setup: SetupResult = (await plans[0]!.setup?.()) ?? {};
  try {
    const observed: Observations[] = [];
    for (const plan of plans) {
      const pinning = pinSelf(plan.pin);
      const before = readInterference();
      const listener = listen(plan);
      const observations = await observe(plan, setup, { pinning, listener, signal });
      const after = readInterference();
      if (before && after) {
        observations.machine.steal =
          (after.stealTicks - before.stealTicks) / Math.max(1, after.allTicks - before.allTicks);
        observations.throttledTimes = after.throttledTimes - before.throttledTimes;
      }
      observed.push(observations);
    }
    return observed;
  } finally {
    await setup.stop?.();
  }
}

async function observe(
  plan: Plan,
  setup: SetupResult,
  { pinning, listener, signal }: Pick<Restart, 'pinning' | 'listener' | 'signal'>,
): Promise<Observations> {
  // Plans may share one: what time leaves of the restarts of this run says nothing of another.
  plan.precision = { ...plan.precision };
  const random = seededRandom(plan.seed);
  const threads = Math.min(pinning.loadCoreCount, mostGeneratorThreads);
  const skipped = new Map(Object.entries(setup.skip ?? {}));
  const observations: Observations = {
    contestants: chooseContestants(plan, skipped),
    skipped,
    slices: [],
    voidSlices: [],
    latencies: [],
    memory: [],
    generator: findWrk(threads) ?? undiciGenerator(),
    openLoopRps: plan.openLoopRps ?? 0,
    machine: readMachine(pinning.description),
    throttledTimes: 0,
    disturbedShare: 0,
  };
  await using canary = await startCanary(pinning);
  const undisturbed = canary && new Undisturbed(() => canary.read(), signal);
  const shortPauses = new Map<string, number[]>();
  const run = { plan, observations, pinning, listener, random, signal, undisturbed, shortPauses };
  const fit = restartsThatFit(plan);
  await untilTimeIsOver(run, async (number, until) => {
    const running = observations.contestants.filter(({ name }) => !skipped.has(name));
    for (const fellows of sideBySide(plan, running, { number, random })) {
      await using fleet = await Fleet.start(fellows, plan, {
        env: setup.env ?? {},
        pinning,
        signal: until,
        onStart: (name) => listener.phase('starting', number, name),
      });
      const { servers } = fleet;
      await measureRestart({ ...run, number, servers, signal: until });
    }
    plan.precision.restarts = fit(number);
  });
  observations.disturbedShare = undisturbed?.lostShare ?? 0;
  return observations;
}

/** Those that run at the same time. The first rate of the open loop is what the baseline can sustain. */
function sideBySide(
  { oneAtATime, baseline }: Plan,
  running: readonly Contestant[],
  { number, random }: { number: number; random: Random },
): Contestant[][] {
  const inOrder = shuffled(running, random);
  if (oneAtATime === undefined) return [inOrder];
  const isFirst = ({ name }: Contestant): boolean => number === 1 && name === baseline;
  return inOrder.toSorted((a, b) => Number(isFirst(b)) - Number(isFirst(a))).map((each) => [each]);
}

function chooseContestants(plan: Plan, skipped: Map<string, string>): Contestant[] {
  const reason = skipped.get(plan.baseline);
  if (reason !== undefined) {
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `The baseline "${plan.baseline}" cannot run here (${reason}), and nothing can be compared without it.`,
    );
  }
  const baseline = plan.variants.find(({ name }) => name === plan.baseline)!;
  const contestants = plan.variants.map((variant) => ({ name: variant.name, variant }));
  const control = { name: controlName(plan.baseline), variant: baseline };
  if (baseline.port !== undefined) {
    skipped.set(
      control.name,
      `the baseline has a fixed port, so a second copy cannot run beside it`,
    );
  }
  return [...contestants, control];
}
