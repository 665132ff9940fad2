import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { isNode } from '../profile/instrument.ts';
import type { Runtime } from './cache.ts';
import type { RuntimeKind } from './spec.ts';

/** Runtimes measured by default: each line of Node with long-term support, then the others. */
export const defaultRuntimes: readonly string[] = [
  ...['6', '8', '10', '12', '14', '16', '18', '20', '22', '24', '26'].map(
    (major) => `node@${major}`,
  ),
  'bun',
  'deno',
];

/** Returns a variant of a config that another runtime runs. */
export function variantOn(variant: PlannedVariant, runtime: Runtime): PlannedVariant {
  const [program, ...args] = variant.command;
  if (!isNode(program!)) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `"${variant.name}" is started by ${program}, so its runtime cannot be changed: write its command as node FILE.`,
    );
  }
  const { name, note } = namesOf(runtime);
  return {
    ...variant,
    name,
    note,
    beside: false,
    over: undefined,
    port: undefined,
    command: [runtime.file, ...runtimeArguments(runtime.kind), ...args],
  };
}

/**
 * Returns the arguments of a runtime. Deno prompts before a program may listen or read, and takes a `.js` file for a module unless
 * told to detect CommonJS.
 */
function runtimeArguments(kind: RuntimeKind): string[] {
  return kind === 'deno' ? ['run', '--allow-all', '--quiet', '--unstable-detect-cjs'] : [];
}

/** Returns `node 10`, with the full version as its note. */
function namesOf({ kind, version }: Runtime): { name: string; note: string } {
  const major = kind === 'node' ? ` ${version.split('.', 1)[0]}` : '';
  return { name: kind + major, note: version };
}

/** Plans a ladder of one app: one rung per runtime, the first is the base. */
export function runtimePlan(
  plan: Plan,
  variants: readonly PlannedVariant[],
  skip: Record<string, string>,
): Plan {
  const { setup } = plan;
  return {
    ...plan,
    name: `${plan.name}-runtimes`,
    group: undefined,
    variants: [...variants],
    baseline: variants.find(({ name }) => skip[name] === undefined)!.name,
    setup: async () => {
      const own = (await setup?.()) ?? {};
      return { ...own, skip: { ...own.skip, ...skip } };
    },
  };
}
