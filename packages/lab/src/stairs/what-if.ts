import { LabError } from '../errors.ts';
import type { Interval } from '../figures.ts';
import type { StageFigures, StairsResult, WhatIf } from './result.ts';

export interface Change {
  stage: string;
  /** As typed: `0`, `3.5` (µs) or `50%` (of the current cost). */
  to: string;
}

/** @throws {LabError} ERR_REDLINE_OPTION */
export function parseChange(text: string): Change {
  const equals = text.lastIndexOf('=');
  const to = text.slice(equals + 1).trim();
  if (equals < 1 || !/^\d+(\.\d+)?%?$/.test(to)) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--what-if "${text}" is not STAGE=MICROS or STAGE=PERCENT%, e.g. verifyToken=0 or rank=50%.`,
    );
  }
  return { stage: text.slice(0, equals).trim(), to };
}

/**
 * Predicts the request with some stages made cheaper and everything else unchanged. Its interval combines those of the stages and
 * of the whole as if they were independent: rather too wide, as a slow moment raises both.
 * @throws {LabError} ERR_REDLINE_OPTION for an unknown stage
 */
export function predict({ stages, whole }: StairsResult, changes: readonly Change[]): WhatIf {
  const resolved = changes.map(({ stage, to }) => {
    const figures = findStage(stages, stage);
    const amount = Number.parseFloat(to);
    const share = amount / 100;
    const { micros } = figures;
    const isShare = to.endsWith('%');
    return {
      stage: figures.name,
      asked: to,
      toMicros: isShare ? micros.value * share : amount,
      // A share of an uncertain cost is itself uncertain; a cost in µs is exact.
      saved: isShare ? scaled(micros, 1 - share) : shifted(micros, -amount),
    };
  });
  const saved = resolved.map((each) => each.saved);
  const value = whole.micros.value - saved.reduce((sum, each) => sum + each.value, 0);
  const below = hypotenuse([
    whole.micros.value - whole.micros.low,
    ...saved.map((s) => s.high - s.value),
  ]);
  const above = hypotenuse([
    whole.micros.high - whole.micros.value,
    ...saved.map((s) => s.value - s.low),
  ]);
  // A stage cannot save more than it costs; the empty response remains.
  const minMicros = stages[0]!.micros.value * 0.5;
  const micros = {
    value: Math.max(value, minMicros),
    low: Math.max(value - below, minMicros),
    high: Math.max(value + above, minMicros),
  };
  const ofStages = {
    below: hypotenuse(saved.map((s) => s.value - s.low)),
    above: hypotenuse(saved.map((s) => s.high - s.value)),
  };
  const ratio = (savedMicros: number): number =>
    whole.micros.value / Math.max(minMicros, whole.micros.value - savedMicros);
  const total = whole.micros.value - value;
  return {
    changes: resolved.map(({ stage, asked, toMicros }) => ({ stage, asked, toMicros })),
    micros,
    rps: { value: 1e6 / micros.value, low: 1e6 / micros.high, high: 1e6 / micros.low },
    rpsRatio: {
      value: ratio(total),
      low: ratio(total - ofStages.below),
      high: ratio(total + ofStages.above),
    },
  };
}

/** @throws {LabError} ERR_REDLINE_OPTION for a stage that is not among these */
export function requireStages(changes: readonly Change[], names: readonly string[]): void {
  for (const { stage } of changes) if (!names.includes(stage)) throw noSuchStage(stage, names);
}

function noSuchStage(name: string, names: readonly string[]): LabError {
  return new LabError(
    'ERR_REDLINE_OPTION',
    `Unknown stage "${name}"; the stages are ${names.join(', ')}.`,
  );
}

/** Finds a stage by its name; for the name of a stage that was measured as a part of another, the error says so. */
export function findStage(stages: readonly StageFigures[], name: string): StageFigures {
  const found = stages.find((stage) => stage.name === name);
  if (found) return found;
  const around = stages.find(({ includes }) => includes.includes(name));
  if (around) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `"${name}" was measured together with "${around.name}"; raise --max-stages to measure it alone, or name "${around.name}".`,
    );
  }
  throw noSuchStage(
    name,
    stages.map((stage) => stage.name),
  );
}

function scaled({ value, low, high }: Interval, factor: number): Interval {
  const ends = [low * factor, high * factor].sort((a, b) => a - b) as [number, number];
  return { value: value * factor, low: ends[0], high: ends[1] };
}

function shifted({ value, low, high }: Interval, by: number): Interval {
  return { value: value + by, low: low + by, high: high + by };
}

function hypotenuse(parts: readonly number[]): number {
  return Math.hypot(...parts);
}
