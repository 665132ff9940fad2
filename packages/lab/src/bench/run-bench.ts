import type { Plan } from '../config/resolve-plan.ts';
import type { SetupResult } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { ownGenerator } from '../load/closed-loop.ts';
import { findWrk } from '../load/wrk.ts';
import { startCoreSpeedProbe } from '../servers/core-speed-probe.ts';
import { type Contestant, Fleet } from '../servers/fleet.ts';
import { SteadyCore } from '../servers/steady-core.ts';
import { type Random, seededRandom, shuffled } from '../stats/random.ts';
import { readInterference, readMachine } from '../system/machine.ts';
import { pinSelf } from '../system/pinning.ts';
import { measureRestart, type Restart } from './restart/measure-restart.ts';
import { controlName, type Observations, type RunListener } from './observations.ts';
import { restartsThatFit, untilTimeIsOver } from './restart/until-time-is-over.ts';
import { QuickTime } from './run-time.ts';

/** One thread of wrk feeds several cores of servers; more threads than this only contend. */
const maxGeneratorThreads = 4;

/**
 * Measures restarts × blocks: every restart starts all contestants, and each block measures each of them once, in a new order. At
 * the end, or on abort, everything started has been stopped.
 * @param plans One for each group. They share the setup, and run one after the other.
 * @param keep Receives each group once it is complete.
 */
export async function runBench(
  plans: readonly Plan[],
  listen: (plan: Plan) => RunListener,
  signal: AbortSignal,
  keep: (plan: Plan, observations: Observations) => void = () => {},
): Promise<void> {
  const setup: SetupResult = (await plans[0]!.setup?.()) ?? {};
  try {
    let time: QuickTime | undefined;
    for (const [index, plan] of plans.entries()) {
      const pinning = pinSelf(plan.pin);
      if (plan.isQuick && plan.until === undefined) {
        time ??= new QuickTime(pinning.coreCount);
        Object.assign(plan, time.bound(plans.slice(index)));
      }
      const before = readInterference();
      const listener = listen(plan);
      const observations = await observe(plan, setup, { pinning, listener, signal });
      const after = readInterference();
      if (before && after) {
        observations.machine.steal =
          (after.stealTicks - before.stealTicks) / Math.max(1, after.allTicks - before.allTicks);
        observations.throttledTimes = after.throttledTimes - before.throttledTimes;
      }
      keep(plan, observations);
    }
  } finally {
    await setup.stop?.();
  }
}

async function observe(
  plan: Plan,
  setup: SetupResult,
  { pinning, listener, signal }: Pick<Restart, 'pinning' | 'listener' | 'signal'>,
): Promise<Observations> {
  // Copied, because plans may share it: the restarts that this run had time for do not apply to another.
  plan.precision = { ...plan.precision };
  const random = seededRandom(plan.seed);
  const threads = Math.min(pinning.loadCoreCount, maxGeneratorThreads);
  const skipped = new Map(Object.entries(setup.skip ?? {}));
  const observations: Observations = {
    contestants: chooseContestants(plan, skipped),
    skipped,
    slices: [],
    voidSlices: [],
    latencies: [],
    memory: [],
    generator: findWrk(threads) ?? ownGenerator(),
    openLoopRps: plan.openLoopRps ?? 0,
    machine: readMachine(pinning.description),
    throttledTimes: 0,
    disturbedShare: 0,
  };
  await using probe = await startCoreSpeedProbe(pinning);
  const steadyCore = probe && new SteadyCore(() => probe.read(), signal);
  const shortPauses = new Map<string, number[]>();
  const run = { plan, observations, pinning, listener, random, signal, steadyCore, shortPauses };
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
  observations.disturbedShare = steadyCore?.lostShare ?? 0;
  return observations;
}

/** Returns the groups that run at the same time. The baseline comes first, because its rate is the first one of the open loop. */
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
