import * as v from 'valibot';
import { LabError } from '../errors.ts';
import type { GroupConfig, PrecisionConfig, RedlineConfig } from './types.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(1));
const texts = v.record(v.string(), v.string());
const path = v.pipe(v.string(), v.startsWith('/'));
const someText = v.pipe(v.string(), v.minLength(1));
const slug = v.pipe(
  v.string(),
  v.regex(/^[\w.-]+$/, 'may hold letters, digits, ".", "_" and "-" only'),
);
const positive = v.pipe(v.number(), v.gtValue(0));

const precision: v.GenericSchema<PrecisionConfig> = v.strictObject({
  restarts: v.optional(count),
  blocks: v.optional(count),
  passes: v.optional(count),
  // wrk checks its stop flag every 100 ms, and a shorter slice is mostly connection setup.
  sliceMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100))),
  warmupMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  warmupRequests: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  minutes: v.optional(positive),
  latencyMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(100))),
  margin: v.optional(v.pipe(v.number(), v.gtValue(0), v.ltValue(1))),
});

const requests: v.GenericSchema<RedlineConfig['requests']> = v.optional(
  v.pipe(
    v.array(
      v.union([
        path,
        v.strictObject({
          method: v.optional(v.string()),
          path,
          headers: v.optional(texts),
          body: v.optional(v.string()),
          compare: v.optional(v.picklist(['body', 'status'])),
          timed: v.optional(v.boolean()),
        }),
      ]),
    ),
    v.minLength(1),
  ),
);

const load: v.GenericSchema<RedlineConfig['load']> = v.optional(
  v.strictObject({
    connections: v.optional(count),
    openLoopRps: v.optional(positive),
    replay: v.optional(someText),
    rate: v.optional(positive),
    pipeline: v.optional(count),
    burst: v.optional(count),
    pin: v.optional(v.boolean()),
    turns: v.optional(v.boolean()),
    exactSends: v.optional(v.boolean()),
  }),
);

const group: v.GenericSchema<GroupConfig> = v.strictObject({
  title: v.optional(v.string()),
  baseline: v.optional(v.string()),
  floor: v.optional(v.string()),
  requests,
  load,
  precision: v.optional(precision),
  quick: v.optional(precision),
});

const configSchema: v.GenericSchema<RedlineConfig> = v.strictObject({
  name: slug,
  title: v.optional(v.string()),
  variants: v.pipe(
    v.array(
      v.strictObject({
        name: someText,
        group: v.optional(someText),
        note: v.optional(v.string()),
        quick: v.optional(v.literal(false)),
        beside: v.optional(v.boolean()),
        over: v.optional(someText),
        command: v.union([someText, v.pipe(v.array(v.string()), v.minLength(1))]),
        cwd: v.optional(v.string()),
        env: v.optional(texts),
        port: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))),
        probe: v.optional(path),
      }),
    ),
    v.minLength(1),
  ),
  baseline: v.optional(v.string()),
  floor: v.optional(v.string()),
  groups: v.optional(v.record(slug, group)),
  requests,
  load,
  precision: v.optional(precision),
  quick: v.optional(precision),
  readyTimeoutMs: v.optional(count),
  setup: v.optional(
    v.custom<NonNullable<RedlineConfig['setup']>>(isFunction, 'must be a function'),
  ),
  verify: v.optional(
    v.custom<NonNullable<RedlineConfig['verify']>>(isFunction, 'must be a function'),
  ),
});

/**
 * @param from Name of the file, for the message.
 * @throws {LabError} ERR_REDLINE_CONFIG with the first error found
 */
export function checkConfig(value: unknown, from: string): RedlineConfig {
  const parsed = v.safeParse(configSchema, value);
  if (!parsed.success) throw wrong(from, describeIssue(parsed.issues, value));
  const config = parsed.output;
  const names = config.variants.map((variant) => variant.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw wrong(from, `two variants are named "${twice}"`);
  checkPorts(config, from);
  checkSteps(config, from);
  for (const role of roles) {
    const name = config[role];
    if (name !== undefined && !names.includes(name)) {
      throw wrong(from, `${role} "${name}" is not one of the variants ${names.join(', ')}`);
    }
  }
  checkGroups(config, from);
  return config;
}

/** Keys that name a variant. */
const roles = ['baseline', 'floor'] as const;

/** Requires a step to name an earlier variant of the same group. */
function checkSteps({ variants }: RedlineConfig, from: string): void {
  for (const [index, { name, over, group: own }] of variants.entries()) {
    if (over === undefined) continue;
    const before = variants.slice(0, index).filter((other) => other.group === own);
    if (before.some((other) => other.name === over)) continue;
    const names = before.map((other) => other.name).join(', ');
    throw wrong(
      from,
      `over "${over}" of variant "${name}" is not one of the variants before it${names === '' ? '' : `: ${names}`}`,
    );
  }
}

/** Rejects a port that is used twice, because the variants of a group all run at the same time. */
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
  for (const [name, own] of Object.entries(groups)) {
    if (!used.has(name)) throw wrong(from, `group "${name}" has no variants`);
    const names = variants
      .filter((variant) => variant.group === name)
      .map((variant) => variant.name);
    for (const role of roles) {
      const named = own[role];
      if (named !== undefined && !names.includes(named)) {
        const among = `of group "${name}" is not one of its variants ${names.join(', ')}`;
        throw wrong(from, `${role} "${named}" ${among}`);
      }
    }
  }
}

function wrong(from: string, what: string): LabError {
  return new LabError('ERR_REDLINE_CONFIG', `${from}: ${what}.`);
}

type Issue = v.BaseIssue<unknown>;

function describeIssue(issues: readonly Issue[], value: unknown): string {
  const { issue, keys } = furthest(issues[0]!);
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    const place = formatPath(keys.slice(0, -1));
    return `unknown key "${String(keys.at(-1))}"${place === '' ? '' : ` in ${place}`}`;
  }
  const place = keys.length === 0 ? 'the default export' : formatPath(keys);
  const found = valueAt(value, keys);
  return found === undefined
    ? `${place} is missing`
    : `${place} is ${preview(found)}: ${complaintOf(issue, found)}`;
}

/** Returns the issue in the branch of a union that got furthest, which is most likely the one the author meant. */
function furthest(issue: Issue, above: PropertyKey[] = []): { issue: Issue; keys: PropertyKey[] } {
  const keys = [...above, ...keysOf(issue)];
  const branches = issue.type === 'union' ? (issue.issues ?? []) : [];
  const deepest = branches.toSorted((a, b) => keysOf(b).length - keysOf(a).length)[0];
  return deepest !== undefined && keysOf(deepest).length > 0
    ? furthest(deepest, keys)
    : { issue, keys };
}

function keysOf({ path: steps }: Issue): PropertyKey[] {
  return (steps ?? []).map(({ key }) => key as PropertyKey);
}

function complaintOf({ type, kind, expected, message }: Issue, found: unknown): string {
  if (type === 'custom' || type === 'regex' || expected === null) return message;
  if (kind === 'schema') return `expected ${expected.toLowerCase()}, received ${typeOf(found)}`;
  return `expected ${expected}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function formatPath(keys: readonly PropertyKey[]): string {
  return keys
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : (index === 0 ? '' : '.') + String(key),
    )
    .join('');
}

function valueAt(value: unknown, keys: readonly PropertyKey[]): unknown {
  return keys.reduce<unknown>(
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
