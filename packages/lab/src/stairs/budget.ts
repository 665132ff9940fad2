import { readFile, writeFile } from 'node:fs/promises';
import * as v from 'valibot';
import { LabError } from '../errors.ts';
import type { Interval } from '../figures.ts';
import type { BudgetReport, BudgetRow, StairsResult } from './result.ts';

/**
 * Max cost of each stage. In floors, a budget is portable between machines: one floor is the cost of HTTP and an empty response on
 * the current machine.
 */
export interface Budget {
  schema: 1;
  unit: 'µs' | 'floor';
  /** Limit of the whole request. */
  request?: number | undefined;
  /** Stage → limit. */
  stages: Record<string, number>;
}

const limit = v.pipe(v.number(), v.minValue(0));
const schema: v.GenericSchema<Budget> = v.strictObject({
  schema: v.literal(1),
  unit: v.picklist(['µs', 'floor']),
  request: v.optional(limit),
  stages: v.record(v.string(), limit),
});

export const wholeRequest = 'whole request';

/** Factor above the measured cost in a budget that Redline writes. */
const headroom = 1.1;

/** @throws {LabError} ERR_REDLINE_BUDGET */
export async function readBudget(file: string): Promise<Budget> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new LabError(
      'ERR_REDLINE_BUDGET',
      `No budget at ${file}; create one from a good run: --write-budget ${file}`,
      { cause },
    );
  });
  const parsed = v.safeParse(schema, parseJson(text, file));
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const place = v.getDotPath(issue) ?? 'the budget';
  throw new LabError('ERR_REDLINE_BUDGET', `${file}: ${place}: ${issue.message}.`);
}

/** Writes a budget that this run keeps, with a tenth of headroom, and at least twice the band. */
export async function writeBudget(file: string, result: StairsResult): Promise<void> {
  const floor = result.stages[0]!.micros.value;
  const { bandMicros } = result.precision;
  const allow = ({ value, high }: Interval): number =>
    Number((Math.max(Math.max(value, 0) * headroom, high, bandMicros * 2) / floor).toPrecision(3));
  const budget: Budget = {
    schema: 1,
    unit: 'floor',
    request: allow(result.whole.micros),
    stages: Object.fromEntries(
      result.stages.slice(1).map(({ name, micros }) => [name, allow(micros)]),
    ),
  };
  await writeFile(file, `${JSON.stringify(budget, undefined, 2)}\n`);
}

/**
 * Checks a budget. A stage is over only if proved: its whole interval lies above the limit. A missing stage fails too, because it
 * is no longer checked.
 */
export function checkBudget(result: StairsResult, budget: Budget, file: string): BudgetReport {
  const unit = budget.unit === 'floor' ? result.stages[0]!.micros.value : 1;
  const inUnits = ({ value, low, high }: Interval): Interval => ({
    value: value / unit,
    low: low / unit,
    high: high / unit,
  });
  const { stages } = result;
  const rows: BudgetRow[] = stages.slice(1).map(({ name, micros }) => {
    const max = budget.stages[name];
    const measured = inUnits(micros);
    return { name, measured, limit: max, status: max === undefined ? 'new' : judge(measured, max) };
  });
  for (const [name, max] of Object.entries(budget.stages)) {
    if (stages.every((stage) => stage.name !== name)) {
      rows.push({ name, measured: undefined, limit: max, status: 'missing' });
    }
  }
  if (budget.request !== undefined) {
    const measured = inUnits(result.whole.micros);
    rows.push({
      name: wholeRequest,
      measured,
      limit: budget.request,
      status: judge(measured, budget.request),
    });
  }
  const failed = rows.some(({ status }) => status === 'over' || status === 'missing');
  return { file, unit: budget.unit, rows, failed };
}

function judge({ low, high }: Interval, max: number): BudgetRow['status'] {
  if (low > max) return 'over';
  return high > max ? 'unresolved' : 'within';
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new LabError('ERR_REDLINE_BUDGET', `${file} is not JSON: ${(cause as Error).message}.`, {
      cause,
    });
  }
}
