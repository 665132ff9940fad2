import type { BenchResult } from './result.ts';

/** Merges the results of all groups for the file. A run without groups has a single result. */
export function mergeGroups(
  title: string,
  parts: readonly { group: string | undefined; result: BenchResult }[],
): BenchResult {
  const first = parts[0]!;
  if (first.group === undefined) return first.result;
  const results = parts.map(({ result }) => result);
  return {
    ...first.result,
    title,
    variants: results.flatMap(({ variants }) => variants),
    warnings: parts.flatMap(({ group, result }) =>
      result.warnings.map((warning) => `${group}: ${warning}`),
    ),
    groups: parts.map(({ group, result }) => ({
      name: group!,
      title: result.title,
      baseline: result.baseline,
      ...(result.floor === undefined ? {} : { floor: result.floor }),
      control: result.control,
      load: result.load,
      precision: result.precision,
      pinning: result.machine.pinning,
      durationSeconds: result.durationSeconds,
      warnings: result.warnings,
    })),
    slices: results.flatMap(({ slices }) => slices),
  };
}

/** Splits a result into its comparisons, each in the form of a result without groups, as a report shows it. */
export function splitGroups(result: BenchResult): BenchResult[] {
  const { groups, limit, unfinished: _, ...whole } = result;
  if (groups === undefined) return [result];
  return groups.map(({ name, pinning = whole.machine.pinning, ...facts }) => {
    const variants = result.variants.filter(({ group }) => group === name);
    const names = new Set([...variants, facts.control].map((variant) => variant.name));
    return {
      ...whole,
      ...facts,
      machine: { ...whole.machine, pinning },
      variants,
      ...(limit && {
        limit: { ...limit, variants: limit.variants.filter((each) => names.has(each.name)) },
      }),
      slices: result.slices.filter(({ variant }) => names.has(variant)),
    };
  });
}
