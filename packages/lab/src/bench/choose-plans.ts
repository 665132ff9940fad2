import { type Overrides, type Plan, resolvePlans } from '../config/resolve-plan.ts';
import type { RedlineConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';

export interface ChosenPlans {
  plans: Plan[];
  /** Names of the groups that `--quick` leaves out. */
  leftOut: string[];
}

/** Returns the plans of the variants that `--only` names; otherwise of all, or of those that `--quick` measures. */
export function choosePlans(
  config: RedlineConfig,
  folder: string,
  { only, ...overrides }: Overrides & { only?: readonly string[] },
): ChosenPlans {
  const all = resolvePlans(config, folder, overrides);
  if (only !== undefined) return { plans: chosen(all, only), leftOut: [] };
  if (!overrides.quick) return { plans: all, leftOut: [] };
  const quick = config.variants.filter(({ quick: isQuick }) => isQuick !== false);
  const plans = chosen(
    all,
    quick.map(({ name }) => name),
  );
  const known = new Set(plans.map(({ group }) => group));
  return { plans, leftOut: all.flatMap(({ group }) => (known.has(group) ? [] : group!)) };
}

function chosen(plans: readonly Plan[], only: readonly string[]): Plan[] {
  const names = plans.flatMap(({ variants }) => variants.map(({ name }) => name));
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--only names "${unknown}", which is not one of ${names.join(', ')}.`,
    );
  }
  return plans.flatMap((plan) => {
    const variants = plan.variants.filter(({ name }) => only.includes(name));
    if (variants.length === 0) return [];
    const hasBaseline = variants.some(({ name }) => name === plan.baseline);
    const floor = variants.find(({ name }) => name === plan.floor)?.name;
    return { ...plan, variants, floor, baseline: hasBaseline ? plan.baseline : variants[0]!.name };
  });
}
