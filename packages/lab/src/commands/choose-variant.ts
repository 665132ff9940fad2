import { loadConfig } from '../config/load-config.ts';
import {
  type Overrides,
  type Plan,
  type PlannedVariant,
  resolvePlans,
} from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';

export interface Chosen {
  plan: Plan;
  variant: PlannedVariant;
  folder: string;
}

/**
 * One variant of a config, and the plan of its group: the baseline where none is named.
 * @param option What named it, for the message.
 * @throws {LabError} ERR_REDLINE_CONFIG_FILE, ERR_REDLINE_CONFIG, ERR_REDLINE_OPTION
 */
export async function chooseVariant(
  configFile: string,
  name: string | undefined,
  overrides: Overrides = {},
  option = '--variant',
): Promise<Chosen> {
  const { config, folder } = await loadConfig(configFile);
  const plans = resolvePlans(config, folder, overrides);
  const wanted = name ?? plans[0]!.baseline;
  for (const plan of plans) {
    const variant = plan.variants.find((each) => each.name === wanted);
    if (variant !== undefined) return { plan, variant, folder };
  }
  const names = plans.flatMap(({ variants }) => variants.map((variant) => variant.name));
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `${option} names "${name}", which is none of ${names.join(', ')}.`,
  );
}
