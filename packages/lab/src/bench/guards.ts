import type { BenchResult } from './result.ts';
import { isMeasured, type MeasuredVariant } from './result.ts';
import { median } from '../stats/order-statistics.ts';
import { holdsOne } from '../stats/verdict.ts';
import { isWaiting, waitingText } from './waiting-words.ts';
import type { Observations } from './observations.ts';

/** Below this share the server waited for something else, which then determines its rps. */
const busyEnough = 0.95;
/** Above this share the generator may be the limit that is measured. */
const generatorTooBusy = 0.8;
const noticeableSteal = 0.02;
/** Above this share even the kept slices are disturbed: no more than a third of the time is waited out. */
const maxDisturbedShare = 0.3;

/** Returns the warnings to read before believing the figures, worst first. */
export function warningsOf(result: BenchResult, seen: Observations): string[] {
  return [
    ...(seen.stopped === undefined ? [] : [seen.stopped]),
    ...controlWarning(result),
    ...generatorWarning(result),
    ...idleServerWarning(result),
    ...voidSliceWarning(seen),
    ...latencyWarning(seen),
    ...unmeasuredLatencyWarning(result, seen),
    ...interferenceWarning(result, seen),
    ...smallSampleWarning(result),
  ];
}

function controlWarning({ control }: BenchResult): string[] {
  if (!isMeasured(control) || holdsOne(control.cpuRatio)) return [];
  return [
    'The baseline differs from itself: something disturbed this run, so none of its verdicts can be trusted. Run it again with nothing else running on the machine.',
  ];
}

function generatorWarning({ slices, variants }: BenchResult): string[] {
  const names = variants
    .map(({ name }) => name)
    .filter((name) => {
      const busy = slices.filter((s) => s.variant === name).map((s) => s.generatorBusy ?? 0);
      return busy.length > 0 && median(busy) > generatorTooBusy;
    });
  if (names.length === 0) return [];
  return [
    `The load generator used more than ${percent(generatorTooBusy)} of its core for ${list(names)}: ${names.length === 1 ? 'its' : 'their'} rps is a lower bound. CPU per request is not affected.`,
  ];
}

function idleServerWarning({ variants, control }: BenchResult): string[] {
  const idle = [...variants, control]
    .filter(isMeasured)
    .filter(({ serverBusy }) => serverBusy < busyEnough);
  if (idle.length === 0) return [];
  const waiting = idle.filter(({ latencyMs, cpuMicrosPerRequest: cpu }) =>
    isWaiting(latencyMs.p50, cpu),
  );
  if (waiting.length === idle.length) return [waitingWarning(waiting, control.name)];
  const min = Math.min(...idle.map(({ serverBusy }) => serverBusy));
  return [
    `The server was not always the bottleneck (${list(idle.map(({ name }) => name))} used as little as ${percent(min)} of a core): rps understates its gain. Use CPU per request instead.`,
  ];
}

/** Others are in the table. */
const maxWaiting = 3;

function waitingWarning(waiting: readonly MeasuredVariant[], control: string): string {
  const shown = waiting.filter(({ name }) => name !== control);
  const each = (shown.length > 0 ? shown : waiting).slice(0, maxWaiting).map((variant) => {
    const { name, latencyMs, cpuMicrosPerRequest: cpu } = variant;
    return `${name} ${waitingText(latencyMs.p50, cpu)}`;
  });
  const more = shown.length - each.length;
  return `Most of a response is waiting: ${each.join(', ')}${more > 0 ? `, and so on for ${more} more` : ''}. A change that saves waits shows in p50 and p99, one that saves work in CPU; rps shows neither in full.`;
}

function voidSliceWarning({ voidSlices, slices }: Observations): string[] {
  if (voidSlices.length === 0) return [];
  const names = list([...new Set(voidSlices.map(({ variant }) => variant))]);
  return [
    `${voidSlices.length} of ${voidSlices.length + slices.length} slices are void, because no request was answered in them (${names}): another process had the machine.`,
  ];
}

function latencyWarning({ latencies }: Observations): string[] {
  const failed = latencies.filter(({ outcome }) => outcome.failed > 0);
  if (failed.length === 0) return [];
  const count = failed.reduce((sum, { outcome }) => sum + outcome.failed, 0);
  return [
    `${count} requests of the open loop got no valid response in time (${list([...new Set(failed.map(({ variant }) => variant))])}); their latency is not in p50 and p99.`,
  ];
}

function unmeasuredLatencyWarning(
  { variants, control, precision }: BenchResult,
  { latencies }: Observations,
): string[] {
  const names = [...variants, control]
    .filter(isMeasured)
    .map(({ name }) => name)
    .filter((name) => !latencies.some(({ variant }) => variant === name));
  if (names.length === 0 || precision.latencyMs === 0) return [];
  return [
    `The latency of ${list(names)} was not measured: no response came within the ${precision.latencyMs} ms of the open loop.`,
  ];
}

function interferenceWarning({ machine }: BenchResult, seen: Observations): string[] {
  const warnings: string[] = [];
  if ((machine.steal ?? 0) > noticeableSteal) {
    warnings.push(`The hypervisor took ${percent(machine.steal!)} of the CPU time during the run.`);
  }
  warnings.push(...disturbanceWarning(seen.disturbedShare));
  if (seen.throttledTimes > 0) {
    warnings.push(`The CPU was throttled ${seen.throttledTimes} times during the run.`);
  }
  return warnings;
}

/** @param share Share of the measuring time that was waited out or measured again. */
export function disturbanceWarning(share: number): string[] {
  if (share <= maxDisturbedShare) return [];
  return [
    `Something outside this machine, most likely the other hyperthread, slowed the server's core down for more than ${percent(maxDisturbedShare)} of the time: some disturbed slices could not be repeated.`,
  ];
}

function smallSampleWarning({ precision }: BenchResult): string[] {
  if (precision.restarts >= 5) return [];
  return [
    `${counted(precision.restarts, 'restart')} × ${counted(precision.blocks, 'block')} is a quick look: with so few restarts, intervals are wide.`,
  ];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function list(names: string[]): string {
  if (names.length > 4) return `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
  return names.length > 1
    ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
    : (names[0] ?? '');
}
