// The stored form of the grid's restarts, each of which was a separate run: one file, small enough to commit.
import {
  type BenchResult,
  isMeasured,
  type LoadFacts,
  type MachineFacts,
  type MeasuredVariant,
  type PrecisionFacts,
  ratioBetween,
  type SkippedVariant,
  type Slice,
} from '@redline/lab';

/** Also satisfied by a result of `redline bench`, as far as tables and charts read it. */
export interface GridResult {
  readonly startedAt: string;
  readonly machine: MachineFacts;
  readonly load: Pick<LoadFacts, 'generator'>;
  readonly groups?: readonly GridGroup[];
  readonly variants: readonly (GridVariant | SkippedVariant)[];
  readonly slices: readonly Slice[];
}

export interface GridGroup {
  readonly name: string;
  readonly precision: Pick<PrecisionFacts, 'restarts' | 'blocks' | 'sliceMs' | 'rpsBand'>;
}

export type GridVariant = Pick<MeasuredVariant, 'name' | 'rps'>;

/** Joins the restarts of all cells into one result. A part is the result of one restart of one cell. */
export function joinRestarts(parts: readonly BenchResult[]): GridResult {
  const [first] = parts;
  if (first === undefined) throw new Error('No restarts to join.');
  const cells = [...Map.groupBy(parts, nameOfCell).values()].map(joinCell);
  return {
    startedAt: first.startedAt,
    machine: first.machine,
    load: { generator: first.load.generator },
    groups: cells.map(({ group }) => group),
    variants: cells.flatMap(({ variants }) => variants),
    slices: cells.flatMap(({ slices }) => slices),
  };
}

export function nameOfCell(part: BenchResult): string {
  return part.groups![0]!.name;
}

function joinCell(restarts: readonly BenchResult[]): {
  group: GridGroup;
  variants: (GridVariant | SkippedVariant)[];
  slices: Slice[];
} {
  const { name, precision, baseline, control } = restarts[0]!.groups![0]!;
  const slices = restarts.flatMap((part, index) =>
    part.slices.map(({ block, variant, requests, seconds, cpuMicros }) => {
      return { restart: index + 1, block, variant, requests, seconds, cpuMicros };
    }),
  );
  const noise = ratioBetween(slices, { variant: control.name, other: baseline, metric: 'rps' });
  return {
    group: {
      name,
      precision: {
        restarts: restarts.length,
        blocks: precision.blocks,
        sliceMs: precision.sliceMs,
        // The width of the baseline's ratio to itself: smaller differences are noise.
        rpsBand: noise === undefined ? 0 : Math.sqrt(noise.high / noise.low) - 1,
      },
    },
    variants: restarts[0]!.variants.map((variant) => joinVariant(variant.name, restarts)),
    slices,
  };
}

/** Uses the geometric mean over restarts, like their ratios. */
function joinVariant(name: string, restarts: readonly BenchResult[]): GridVariant | SkippedVariant {
  const own = restarts.flatMap(({ variants }) => variants.filter((each) => each.name === name));
  const skipped = own.find((each) => !isMeasured(each));
  if (skipped !== undefined) return skipped;
  const logs = own.filter(isMeasured).map(({ rps }) => Math.log(rps));
  return { name, rps: Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length) };
}
