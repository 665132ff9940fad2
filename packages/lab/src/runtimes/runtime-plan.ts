import type { Plan, PlannedVariant } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { isNode } from '../profile/instrument.ts';
import type { Runtime } from './cache.ts';
import type { RuntimeKind } from './spec.ts';

/** What is measured where nothing is named: each line of Node that was supported for long, then the others. */
export const defaultRuntimes: readonly string[] = [
  ...['6', '8', '10', '12', '14', '16', '18', '20', '22', '24', '26'].map(
    (major) => `node@${major}`,
  ),
  'bun',
  'deno',
];

/** A variant of a config, run by another runtime. */
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
    port: undefined,
    command: [runtime.file, ...runtimeArguments(runtime.kind), ...args],
  };
}

/** Deno asks before it lets a program listen or read, and takes a `.js` for a module if it is not told to look. */
function runtimeArguments(kind: RuntimeKind): string[] {
  return kind === 'deno' ? ['run', '--allow-all', '--quiet', '--unstable-detect-cjs'] : [];
}

/** `node 10`, with the whole version beside it. */
function namesOf({ kind, version }: Runtime): { name: string; note: string } {
  const major = kind === 'node' ? ` ${version.split('.', 1)[0]}` : '';
  return { name: kind + major, note: version };
}

/** A ladder of one app: a rung for each runtime, the first the base. */
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
