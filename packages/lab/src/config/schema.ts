import { z } from 'zod';
import { LabError } from '../errors.ts';
import type { GroupConfig, PrecisionConfig, RedlineConfig } from './types.ts';

const count = z.int().positive();
const environment = z.record(z.string(), z.string());

const precision: z.ZodType<PrecisionConfig> = z.strictObject({
  restarts: count.optional(),
  blocks: count.optional(),
  // wrk looks at its stop flag every 100 ms, and a shorter slice is mostly connection set-up.
  sliceMs: z.int().min(100).optional(),
  warmupMs: z.int().min(0).optional(),
  latencyMs: z.int().min(100).optional(),
  margin: z.number().gt(0).lt(1).optional(),
});

const requests: z.ZodType<RedlineConfig['requests']> = z
  .array(
    z.union([
      z.string().startsWith('/'),
      z.strictObject({
        method: z.string().optional(),
        path: z.string().startsWith('/'),
        headers: z.record(z.string(), z.string()).optional(),
        body: z.string().optional(),
        compare: z.enum(['body', 'status']).optional(),
        timed: z.boolean().optional(),
      }),
    ]),
  )
  .min(1)
  .optional();

const load: z.ZodType<RedlineConfig['load']> = z
  .strictObject({
    connections: count.optional(),
    openLoopRps: z.number().positive().optional(),
    replay: z.string().min(1).optional(),
    rate: z.number().positive().optional(),
    pipeline: count.optional(),
    burst: count.optional(),
    pin: z.boolean().optional(),
    turns: z.boolean().optional(),
    exactSends: z.boolean().optional(),
  })
  .optional();

const group: z.ZodType<GroupConfig> = z.strictObject({
  title: z.string().optional(),
  baseline: z.string().optional(),
  requests,
  load,
  precision: precision.optional(),
  quick: precision.optional(),
});

const configSchema: z.ZodType<RedlineConfig> = z.strictObject({
  name: z.string().regex(/^[\w.-]+$/, 'may hold letters, digits, ".", "_" and "-" only'),
  title: z.string().optional(),
  variants: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        group: z.string().min(1).optional(),
        note: z.string().optional(),
        beside: z.boolean().optional(),
        command: z.union([z.string().min(1), z.array(z.string()).min(1)]),
        cwd: z.string().optional(),
        env: environment.optional(),
        port: z.int().min(1).max(65_535).optional(),
        probe: z.string().startsWith('/').optional(),
      }),
    )
    .min(1),
  baseline: z.string().optional(),
  groups: z.record(z.string().regex(/^[\w.-]+$/), group).optional(),
  requests,
  load,
  precision: precision.optional(),
  quick: precision.optional(),
  readyTimeoutMs: count.optional(),
  setup: z.custom<NonNullable<RedlineConfig['setup']>>(isFunction, 'must be a function').optional(),
  verify: z
    .custom<NonNullable<RedlineConfig['verify']>>(isFunction, 'must be a function')
    .optional(),
});

/**
 * @param from Name of the file, for the message.
 * @throws {LabError} ERR_REDLINE_CONFIG with the first thing that is wrong
 */
export function checkConfig(value: unknown, from: string): RedlineConfig {
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) throw wrong(from, describeIssue(parsed.error.issues[0]!, value));
  const config = parsed.data;
  const names = config.variants.map((variant) => variant.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(from, `two variants are named "${twice}"`);
  checkPorts(config, from);
  if (config.baseline !== undefined && !names.includes(config.baseline)) {
    throw wrong(
      from,
      `baseline "${config.baseline}" is not one of the variants ${names.join(', ')}`,
    );
  }
  checkGroups(config, from);
  return config;
}

/** The variants of a group all run at the same time. */
function checkPorts({ variants }: RedlineConfig, from: string): void {
  const fixed = variants.filter(({ port }) => port !== undefined);
  for (const [index, one] of fixed.entries()) {
    const before = fixed.slice(0, index);
    if (before.some((other) => other.port === one.port && other.group === one.group)) {
      throw wrong(
        from,
        `two variants have port ${one.port}, and all variants run at the same time`,
      );
    }
  }
}

function checkGroups({ variants, groups = {} }: RedlineConfig, from: string): void {
  const used = new Set(variants.map((variant) => variant.group));
  if (used.size > 1 && used.has(undefined)) {
    const without = variants.find((variant) => variant.group === undefined)!;
    throw wrong(from, `variant "${without.name}" has no group, but others do`);
  }
  for (const [name, { baseline }] of Object.entries(groups)) {
    if (!used.has(name)) throw wrong(from, `group "${name}" has no variants`);
    const names = variants.filter((variant) => variant.group === name).map((v) => v.name);
    if (baseline !== undefined && !names.includes(baseline)) {
      throw wrong(
        from,
        `baseline "${baseline}" of group "${name}" is not one of its variants ${names.join(', ')}`,
      );
    }
  }
}

function wrong(from: string, what: string): LabError {
  return new LabError('ERR_REDLINE_CONFIG', `${from}: ${what}.`);
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const place = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return `unknown key "${issue.keys[0]}"${place === '' ? '' : ` in ${place}`}`;
  }
  if (issue.code === 'invalid_union') {
    // The branch that got furthest says what the author most likely meant.
    const branches = issue.errors.map((errors) => errors[0]!).filter(Boolean);
    const deepest = branches.toSorted((a, b) => b.path.length - a.path.length)[0];
    if (deepest && (deepest.path.length > 0 || deepest.code === 'unrecognized_keys')) {
      return describeIssue({ ...deepest, path: [...issue.path, ...deepest.path] } as never, value);
    }
  }
  const found = valueAt(value, issue.path);
  const what = issue.message.replace(/^Invalid input: /, '');
  if (found === undefined) return `${place === '' ? 'the default export' : place} is missing`;
  return `${place === '' ? 'the default export' : place} is ${preview(found)}: ${what}`;
}

function formatPath(path: PropertyKey[]): string {
  return path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : (index === 0 ? '' : '.') + String(key),
    )
    .join('');
}

function valueAt(value: unknown, path: PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      inner === null || inner === undefined
        ? undefined
        : (inner as Record<PropertyKey, unknown>)[key],
    value,
  );
}

function preview(value: unknown): string {
  const text =
    typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value));
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
