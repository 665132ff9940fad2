import { resolve } from 'node:path';
import { canTakeTurns } from '../system/load-tools.ts';
import { defaultMargin } from '../stats/verdict.ts';
import { parseCommand } from './command-line.ts';
import type { PrecisionConfig, RedlineConfig, RequestConfig, VariantConfig } from './types.ts';

type OptionalPrecision = 'warmupRequests' | 'minutes' | 'passes';

/** A config with every default filled in: the only input of the runner. */
export interface Plan {
  name: string;
  title: string;
  /** Undefined if the config has no groups. */
  group: string | undefined;
  variants: PlannedVariant[];
  baseline: string;
  /** The variant that shows the minimum cost of a response on this machine. */
  floor: string | undefined;
  requests: Required<RequestConfig>[];
  /** Shown in reports in place of the requests, if these are too many. */
  requestLabel?: string;
  /** Sent to each server once, for the cookies or the token that all other requests need. */
  login?: Required<RequestConfig>;
  /** An access log whose requests replace those of the plan. */
  replay?: { file: string; rate: number | undefined };
  connections: number;
  /** True if the user chose the number of connections. */
  hasConnections: boolean;
  openLoopRps: number | undefined;
  pipeline: number;
  burst: number;
  pin: boolean;
  turns: boolean;
  exactSends: boolean;
  precision: Required<Omit<PrecisionConfig, 'margin' | OptionalPrecision>> &
    Pick<PrecisionConfig, OptionalPrecision>;
  /** Limit of `same`, as a fraction. */
  margin: number;
  seed: number;
  /** Deadline of the restarts, as a time of `Date.now()`; absent if their number is fixed. */
  until?: number;
  /** Min restarts, even if fewer fit. @default 4 */
  minRestarts?: number;
  /** Max duration of the run, in milliseconds: it then ends with the results so far. */
  timeLimitMs?: number;
  /** Set if the first restart may take longer: the user asked for a number of restarts, not for a time. */
  waitsForFirst?: true;
  /** Set for `--quick`: the restarts of all groups that fit into its time. */
  isQuick?: true;
  /** Set if the app cannot run twice: its copies are started and measured one after the other. */
  oneAtATime?: true;
  readyTimeoutMs: number;
  setup: RedlineConfig['setup'];
  verify: RedlineConfig['verify'];
}

export interface PlannedVariant {
  name: string;
  note: string | undefined;
  beside: boolean;
  /** Name of the variant to measure its step against, instead of the rung before it. */
  over: string | undefined;
  command: string[];
  cwd: string;
  env: Record<string, string>;
  port: number | undefined;
  probe: string | undefined;
}

/** Command-line options that override the config. */
export interface Overrides {
  quick?: boolean;
  restarts?: number;
  blocks?: number;
  /** Seconds. */
  warmup?: number;
  connections?: number;
  seed?: number;
  margin?: number;
}

const defaultPrecision = {
  restarts: 5,
  blocks: 10,
  sliceMs: 200,
  warmupMs: 1_000,
  latencyMs: 1_000,
};
/**
 * If CPU is read in turns, slices of one start differ less than starts do: many starts, with few blocks each.
 */
const defaultPrecisionInTurns = {
  restarts: 14,
  blocks: 3,
  sliceMs: 100,
  warmupMs: 1_000,
  latencyMs: 200,
};
const defaultQuick: PrecisionConfig = { restarts: 4, blocks: 3 };
const defaultQuickInTurns: PrecisionConfig = { restarts: 4, blocks: 2 };

/** Returns one plan for each group, in the order of the config; a config without groups gives one plan. */
export function resolvePlans(config: RedlineConfig, folder: string, overrides: Overrides): Plan[] {
  const groups = new Set(config.variants.map(({ group }) => group));
  return [...groups].map((group) => {
    if (group === undefined) return resolvePlan(config, folder, overrides);
    const variants = config.variants.filter((variant) => variant.group === group);
    const own = config.groups?.[group] ?? {};
    const shared = variants.some(({ name }) => name === config.baseline) && config.baseline;
    const floor = own.floor ?? variants.find(({ name }) => name === config.floor)?.name;
    const load = { ...config.load, ...own.load };
    const title = own.title ?? `${config.title ?? config.name}, ${group}`;
    return {
      ...resolvePlan(
        {
          ...config,
          ...own,
          variants,
          floor,
          title,
          baseline: own.baseline ?? (shared || variants[0]!.name),
          load,
          precision: { ...config.precision, ...own.precision },
          quick: { ...quickOf({ ...config, load }), ...own.quick },
        },
        folder,
        overrides,
      ),
      group,
    };
  });
}

function resolvePlan(config: RedlineConfig, folder: string, overrides: Overrides): Plan {
  const requests = (config.requests ?? ['/']).map(resolveRequest);
  const baseline = config.baseline ?? config.variants[0]!.name;
  const first = requests[0]!;
  const { margin, minutes, ...precision } = {
    ...config.precision,
    ...(overrides.quick ? quickOf(config) : {}),
  };
  return {
    name: config.name,
    title: config.title ?? `${config.name}, ${first.method} ${first.path}`,
    group: undefined,
    variants: config.variants.map((variant) => resolveVariant(variant, folder)),
    baseline,
    floor: config.floor,
    requests,
    connections: overrides.connections ?? config.load?.connections ?? 64,
    hasConnections: (overrides.connections ?? config.load?.connections) !== undefined,
    openLoopRps: config.load?.openLoopRps,
    ...(config.load?.replay === undefined
      ? {}
      : { replay: { file: resolve(folder, config.load.replay), rate: config.load.rate } }),
    pipeline: config.load?.pipeline ?? 1,
    burst: config.load?.burst ?? 1,
    pin: config.load?.pin ?? true,
    turns: takesTurns(config),
    exactSends: config.load?.exactSends ?? false,
    margin: overrides.margin ?? margin ?? defaultMargin,
    precision: {
      ...(takesTurns(config) ? defaultPrecisionInTurns : defaultPrecision),
      ...precision,
      ...(overrides.restarts === undefined
        ? minutes !== undefined && { minutes }
        : { restarts: overrides.restarts }),
      ...(overrides.blocks === undefined ? {} : { blocks: overrides.blocks }),
      ...(overrides.warmup === undefined ? {} : { warmupMs: 1_000 * overrides.warmup }),
    },
    ...(overrides.quick && overrides.restarts === undefined && { isQuick: true as const }),
    seed: overrides.seed ?? Math.floor(Math.random() * 2 ** 32),
    readyTimeoutMs: config.readyTimeoutMs ?? 30_000,
    setup: config.setup,
    verify: config.verify,
  };
}

function quickOf(config: RedlineConfig): PrecisionConfig {
  return config.quick ?? (takesTurns(config) ? defaultQuickInTurns : defaultQuick);
}

function takesTurns({ load }: RedlineConfig): boolean {
  return load?.turns ?? (load?.pin !== false && canTakeTurns());
}

function resolveVariant(variant: VariantConfig, folder: string): PlannedVariant {
  const { command, env } = parseCommand(variant.command);
  return {
    name: variant.name,
    note: variant.note,
    beside: variant.beside ?? false,
    over: variant.over,
    command,
    cwd: resolve(folder, variant.cwd ?? '.'),
    env: { ...env, ...variant.env },
    port: variant.port,
    probe: variant.probe,
  };
}

export function resolveRequest(request: string | RequestConfig): Required<RequestConfig> {
  const given = typeof request === 'string' ? { path: request } : request;
  return { method: 'GET', headers: {}, body: '', compare: 'body', timed: true, ...given };
}
