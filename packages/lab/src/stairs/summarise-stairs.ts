import type { Interval } from '../figures.ts';
import { disturbanceWarning } from '../bench/guards.ts';
import { resamples } from '../stats/bootstrap.ts';
import { seededRandom } from '../stats/random.ts';
import { mean } from '../stats/order-statistics.ts';
import type { CallsSummary } from '../calls-out/result.ts';
import { summariseCalls } from '../calls-out/summarise-calls.ts';
import { memoryOf } from './memory.ts';
import { estimateStairs, type StairsEstimates } from './estimate.ts';
import { type CutSlice, watched } from './preload/protocol.ts';
import { httpStage } from './common-path.ts';
import type { StageFigures, StairsResult } from './result.ts';
import type { StairsObservations, StairsPlan } from './plan.ts';
import { waitingBetween } from './waiting.ts';

interface StairsFacts {
  invocation: string;
  runId: string;
  redlineVersion: string;
  startedAt: Date;
  durationSeconds: number;
}

const noticeableSteal = 0.02;
/** Below this number of rounds, the lowest quarter is only a handful of slices. */
const fewRounds = 24;

/** Turns the observations into a result. */
export function summariseStairs(
  plan: StairsPlan,
  seen: StairsObservations,
  { startedAt, ...facts }: StairsFacts,
): StairsResult {
  const estimates = estimateStairs(seen.restarts, seen.cuts, seen.endings, seededRandom(plan.seed));
  const stages = stagesOf(seen, estimates);
  const memory = memoryOf(seen.memory, seen.cuts);
  for (const [index, figures] of memory?.stages.entries() ?? []) stages[index]!.memory = figures;
  const sumMicros = stages.reduce((sum, { micros }) => sum + micros.value, 0);
  const { target } = plan;
  const calls = callsOf(seen, stages, target.variant.cwd);
  for (const stage of stages) stage.share = stage.micros.value / sumMicros;
  return {
    schema: 1,
    command: 'stairs',
    scenario: target.scenario,
    title: titleOf(target.title, target.asked),
    ...facts,
    startedAt: startedAt.toISOString(),
    machine: seen.machine,
    app: {
      name: target.variant.name,
      command: target.variant.command,
      node: seen.node,
      frameworks: seen.frameworks,
    },
    load: {
      generator: seen.generator.name,
      threads: seen.generator.threads,
      connections: target.connections,
      request: target.asked,
    },
    precision: precisionOf(plan, seen, estimates),
    stages,
    whole: {
      micros: estimates.whole,
      rps: toRps(estimates.whole),
      processMicros: estimates.processMicros,
      control: estimates.control,
      controlVerdict: estimates.controlVerdict,
      ...(memory && { memory: memory.whole }),
    },
    sumMicros,
    unattributedMicros: estimates.whole.value - sumMicros,
    ...(calls === undefined ? {} : { calls }),
    leftOut: seen.leftOut,
    warnings: [...warningsOf(seen, estimates), ...(target.replayed?.warnings ?? [])],
    slices: numbered(seen.restarts),
    memorySlices: numbered(seen.memory),
  };
}

function numbered(restarts: readonly CutSlice[][]): StairsResult['slices'] {
  return restarts.flatMap((slices, restart) =>
    slices.map((slice) => ({ restart: restart + 1, ...slice })),
  );
}

function precisionOf(
  { seed }: StairsPlan,
  seen: StairsObservations,
  { bandMicros, endings }: StairsEstimates,
): StairsResult['precision'] {
  return {
    restarts: seen.restarts.length,
    rounds: seen.rounds,
    guardMs: seen.guardMs,
    countedMs: seen.countedMs,
    resamples,
    seed,
    bandMicros,
    endingMicros: rangeOf(endings),
    clock: seen.hasThreadClock ? 'thread' : 'process',
  };
}

/** Joins title and request, unless the title already names the request, as a config's title usually does. */
function titleOf(title: string, request: string): string {
  const [start, query] = request.split('?') as [string, string?];
  return title.includes(start) ? title : `${title}, ${start}${query === undefined ? '' : '?…'}`;
}

function rangeOf(values: readonly number[]): Interval {
  return { value: mean(values), low: Math.min(...values), high: Math.max(...values) };
}

/** Returns the requests per second of one core that does nothing else. */
function toRps({ value, low, high }: Interval): Interval {
  return { value: 1e6 / value, low: 1e6 / high, high: 1e6 / low };
}

function stagesOf(seen: StairsObservations, estimates: StairsEstimates): StageFigures[] {
  const { stages } = seen.commonPath;
  const ends = [...estimates.levels.slice(1), estimates.whole];
  const http: StageFigures = {
    name: httpStage,
    kind: 'http',
    place: '',
    micros: estimates.floor,
    share: 0,
    verdict: 'changed',
    rpsIfItEnded: toRps(estimates.floor),
    includes: stages.slice(0, seen.cuts[0]).map(({ name }) => name),
    calls: [],
    waitingMs: waitingBetween(seen.marks, watched, seen.cuts[0]),
    cut: -1,
  };
  const measured = seen.cuts.map((cut, index): StageFigures => {
    const last = (seen.cuts[index + 1] ?? stages.length) - 1;
    const inside = stages.slice(cut, last + 1);
    const { name, kind, place } = stages[cut]!;
    return {
      name,
      kind,
      place,
      ...estimates.steps[index]!,
      share: 0,
      rpsIfItEnded: toRps(ends[index]!),
      includes: inside.slice(1).map((stage) => stage.name),
      calls: inside.flatMap(({ calls }) => calls),
      waitingMs: waitingBetween(seen.marks, cut, seen.cuts[index + 1]),
      cut,
    };
  });
  return [http, ...measured];
}

function warningsOf(seen: StairsObservations, estimates: StairsEstimates): string[] {
  const warnings: string[] = [];
  const { steal } = seen.machine;
  if (estimates.controlVerdict === 'changed') {
    warnings.push(
      'The whole request differs from itself: something disturbed this run, so none of its verdicts can be trusted. Run it again with nothing else running on the machine.',
    );
  }
  if (estimates.voidSlices > 0) {
    const all = seen.restarts.flat().length;
    warnings.push(
      `${estimates.voidSlices} of ${all} slices are void: fewer than 20 requests completed in them.`,
    );
  }
  if (!seen.hasThreadClock) {
    warnings.push(
      `${seen.node} has no clock for the main thread alone: the figures cover all its threads, including garbage collection.`,
    );
  }
  if (steal !== undefined && steal > noticeableSteal) {
    warnings.push(
      `The hypervisor took ${(steal * 100).toFixed(1)} % of the CPU time during the run.`,
    );
  }
  warnings.push(...disturbanceWarning(seen.disturbedShare));
  if (seen.rounds < fewRounds) {
    warnings.push(`${seen.rounds} rounds are a quick look: use more --seconds before quoting it.`);
  }
  if (seen.commonPath.stages.every(({ place }) => place === '')) {
    warnings.push(
      'No function of the app was entered exactly once by every request: the stages are those of its framework alone.',
    );
  }
  if (seen.unreadable.length > 0) {
    warnings.push(
      `${seen.unreadable.length} files of the app could not be parsed as JavaScript and have no stages: ${seen.unreadable.slice(0, 3).join(', ')}.`,
    );
  }
  return warnings;
}

/** Summarises the calls by the stages that were measured: those of a stage without a cut belong to the stage before it. */
export function callsOf(
  { requests }: Pick<StairsObservations, 'requests'>,
  stages: readonly StageFigures[],
  folder: string,
): CallsSummary | undefined {
  return summariseCalls(requests, {
    folder,
    callerOf({ stage = -1 }) {
      const { name, place, cut } = stages.findLast((each) => each.cut <= stage) ?? stages[0]!;
      return { name, place, cut };
    },
  });
}
