import { loadTarget } from '../config/from-url.ts';
import {
  type Overrides,
  type Plan,
  type PlannedVariant,
  resolvePlans,
} from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { RequestOptions } from '../config/request-options.ts';

/** The target as it was typed: a config or a URL, the command that starts the app there, and the request options. */
export interface Asked {
  target: string;
  command?: readonly string[];
  request?: RequestOptions;
  /** True if several servers run at the same time. */
  sideBySide?: boolean;
}

export interface Chosen {
  plan: Plan;
  variant: PlannedVariant;
  folder: string;
}

/**
 * Returns one variant of a config or of a URL, and the plan of its group: the baseline if none is named.
 * @param option The option that named it, for the message.
 * @throws {LabError} ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_CONFIG, ERR_REDLINE_OPTION
 */
export async function chooseVariant(
  { target, command = [], request = {}, sideBySide = false }: Asked,
  name: string | undefined,
  overrides: Overrides = {},
  option = '--variant',
): Promise<Chosen> {
  const { config, folder } = await loadTarget(target, command, { sideBySide, request });
  const plans = resolvePlans(config, folder, overrides);
  const wanted = name ?? plans[0]!.baseline;
  for (const plan of plans) {
    const variant = plan.variants.find((each) => each.name === wanted);
    if (variant !== undefined) return { plan, variant, folder };
  }
  const names = plans.flatMap(({ variants }) => variants.map((variant) => variant.name));
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `${option} names "${name}", which is not one of ${names.join(', ')}.`,
  );
}
