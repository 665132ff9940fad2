import type { Evidence, Measurement } from './evidence.ts';

/**
 * Status of a rule, derived from its evidence. `on`: it pays on every measured Node. `gated`: on some of them. `refuted`: on none;
 * such advice has no rule and is a myth: proof, evidence and page. A status is never set by hand.
 */
export type Status = 'on' | 'gated' | 'refuted';

/** True if faster by more than 30 %, over the whole interval: smaller gains are negligible in any program. */
export function pays({ verdict, ratio }: Measurement): boolean {
  return verdict === 'changed' && ratio.value > 1;
}

/** True if slower by more than 30 %, over the whole interval. */
export function costs({ verdict, ratio }: Measurement): boolean {
  return verdict === 'changed' && ratio.value < 1;
}

export function statusOf({ measurements }: Pick<Evidence, 'measurements'>): Status {
  const paying = measurements.filter(pays).length;
  if (paying === 0) return 'refuted';
  return paying === measurements.length ? 'on' : 'gated';
}

/**
 * True if the advice pays on a major version of Node. A version that was not measured is assumed to be like its measured neighbours
 * if they agree, and not to pay if they differ.
 */
export function paysOn({ measurements }: Pick<Evidence, 'measurements'>, major: number): boolean {
  const same = measurements.find((each) => majorOf(each) === major);
  if (same !== undefined) return pays(same);
  const older = measurements.findLast((each) => majorOf(each) < major);
  const newer = measurements.find((each) => majorOf(each) > major);
  const neighbours = [older, newer].filter((each) => each !== undefined);
  return neighbours.length > 0 && neighbours.every(pays);
}

export function majorOf({ node }: Pick<Measurement, 'node'>): number {
  return Number(node.split('.', 1)[0]);
}
