import { type Finding, present } from '../../document/document.ts';
import { say, strong, type Text, verdict } from '../../document/text.ts';
import { type BenchResult, isMeasured } from '../result.ts';
import type { Interval } from '../../figures.ts';
import { type Figures, p99Of } from './figures.ts';
import { fixed, percent, range } from '../../report/format.ts';
import type { Reading } from '../../report/reading.ts';
import { baseOf, type MeasuredRow, savedMicros, type StepRow } from './rows.ts';
import { marginOf, trustOf } from './words.ts';
import { restartsHint, savedWords, spanWords } from '../../report/words.ts';

/** Max entries named on page one, to keep it readable; the table lists all. */
const MAX_NAMED = 8;
const NOTEWORTHY_MEMORY = 0.1;

/** Returns the main findings: changed and unresolved variants, and in one line those that stayed the same. */
export function findings(result: BenchResult, figures: Figures): Finding[] {
  const about = result.command === 'ladder' ? ladderFindings : benchFindings;
  const skipped = result.variants.filter((variant) => !isMeasured(variant));
  return present([
    ...(trustOf(result).cpu ? about(result, figures) : []),
    skipped.length > 0 && {
      word: verdict('base', 'skipped'),
      text: say`${listed(skipped, ({ name }) => strong(name), ', ')}: not measured, see the table for the reason.`,
    },
  ]);
}

function ladderFindings(result: BenchResult, figures: Figures): Finding[] {
  const top = figures.measured.findLast((row) => row.role === 'variant');
  const rungs = figures.steps
    .filter(({ beside }) => !beside)
    .toSorted((a, b) => Math.abs(b.saved.value) - Math.abs(a.saved.value));
  const decimals = figures.savedDecimals;
  const below = rungs.some(({ apart }) => apart)
    ? 'the one they are measured over'
    : 'the one below';
  const unresolved = `Rungs not told apart from ${below}`;
  const group = (reading: Reading, intro: string, text: (step: StepRow) => Text): Finding[] => {
    const found = rungs.filter((step) => step.saved.reading === reading);
    const hints = restartsNote(found.map(({ cpu }) => restartsHint(cpu)));
    return found.length === 0
      ? []
      : [finding(verdict(reading), say`${intro}${hints}: ${listed(found, text)}.`)];
  };
  const sized = (step: StepRow): Text => {
    const saved = step.saved.value < 0 ? negated(step.saved) : step.saved;
    return say`${strong(step.name)} ${fixed(saved.value, decimals)}\u00a0µs ${range(saved, decimals)}`;
  };
  const first = top && say`Top rung against the base: ${sentence(result, top, figures)}`;
  return [
    ...(top && first ? [finding(verdict(top.cpu.reading), first)] : []),
    ...group('better', `Rungs that cost less CPU than ${below}`, sized),
    ...group('worse', `Rungs that cost more CPU than ${below}`, sized),
    ...group('unresolved', unresolved, (step) =>
      open(step.name, step.saved, decimals, restartsHint(step.cpu)),
    ),
    ...group('same', `Rungs within ±\u00a0${percent(marginOf(result))} of ${below}`, (step) =>
      strong(step.name),
    ),
    ...figures.steps.filter(({ beside }) => beside).map((step) => besideFinding(step, figures)),
  ];
}

function besideFinding(step: StepRow, figures: Figures): Finding {
  const { reading } = step.saved;
  const cpu =
    reading === 'unresolved'
      ? spanWords(step.saved, figures.savedDecimals)
      : savedWords(step.saved, figures.savedDecimals, 'CPU per request');
  const rps = figures.stepTexts.get(step)?.rps;
  return finding(
    verdict(reading),
    say`Beside the ladder: ${strong(step.name)} against ${step.over}: ${cpu}, ${rps?.value}\u00a0× the requests ${rps?.range}.`,
  );
}

function benchFindings(result: BenchResult, figures: Figures): Finding[] {
  const rows = variantRows(figures);
  const changed = rows
    .filter(({ cpu: { reading } }) => reading === 'better' || reading === 'worse')
    .toSorted((a, b) => distance(b) - distance(a));
  const items = changed
    .slice(0, MAX_NAMED)
    .map((row) => finding(verdict(row.cpu.reading), sentence(result, row, figures)));
  const more = changed.length - MAX_NAMED;
  if (more > 0)
    items.push(finding(verdict('base', 'changed'), say`and ${more} more, in the table.`));
  const unresolved = rows.filter((row) => row.cpu.reading === 'unresolved');
  if (unresolved.length > 0) {
    const text = (row: MeasuredRow): Text =>
      open(row.name, saving(result, row), figures.cpuDecimals, restartsHint(row.cpu));
    const hints = restartsNote(unresolved.map(({ cpu }) => restartsHint(cpu)));
    items.push(
      finding(
        verdict('unresolved'),
        say`CPU against the base${hints}: ${listed(unresolved, text)}.`,
      ),
    );
  }
  const same = rows.filter((row) => row.cpu.reading === 'same');
  if (same.length > 0) {
    items.push(
      finding(
        verdict('same'),
        say`${listed(same, ({ name }) => strong(name), ', ')}: CPU within ±\u00a0${percent(marginOf(result))} of the base.`,
      ),
    );
  }
  return items;
}

/** `fastify 5: 14.9 µs less CPU per request [13.8, 16.0], 1.27 × the requests [1.23, 1.31].` */
function sentence(result: BenchResult, row: MeasuredRow, figures: Figures): Text {
  const base = baseOf(result);
  const hint = restartsHint(row.cpu);
  const cpu = savedWords(saving(result, row), figures.cpuDecimals, 'CPU per request');
  const parts = [
    hint === undefined ? cpu : `${cpu} (${hint} would settle it)`,
    requests(row, figures),
  ];
  if (base && row.p99) {
    const decimals = figures.latencyDecimals;
    parts.push(
      `p99 ${fixed(row.variant.latencyMs.p99, decimals)}\u00a0ms ${range(p99Of(row), decimals)} against ${fixed(base.latencyMs.p99, decimals)}`,
    );
  }
  const memory = base ? row.variant.rssMiB - base.rssMiB : 0;
  if (base && Math.abs(memory) >= base.rssMiB * NOTEWORTHY_MEMORY) {
    parts.push(`${fixed(Math.abs(memory))}\u00a0MiB ${memory > 0 ? 'more' : 'less'} memory`);
  }
  return say`${strong(row.name)}: ${parts.join(', ')}.`;
}

function requests(row: MeasuredRow, figures: Figures): string {
  const { value = '', range: interval = '' } = figures.rps.get(row) ?? {};
  const atLeast = row.rpsIsLowerBound ? 'at least ' : '';
  switch (row.rps.reading) {
    case 'same':
      return `the same requests, ${value}\u00a0× ${interval}`;
    case 'unresolved':
      return `requests unresolved at ${value}\u00a0× ${interval}`;
    default:
      return `${atLeast}${value}\u00a0× the requests ${interval}`;
  }
}

/** Explains the restart counts in a list; empty when no entry has one. */
function restartsNote(hints: readonly (string | undefined)[]): string {
  return hints.some((hint) => hint !== undefined) ? ' (restarts that would settle it)' : '';
}

function open(name: string, saved: Interval, decimals: number, hint: string | undefined): Text {
  return say`${strong(name)} ${spanWords(saved, decimals)}${hint !== undefined && ` (${hint})`}`;
}

/** Falls back to the variant's own figure if the base was skipped. */
function saving(result: BenchResult, { variant }: MeasuredRow): Interval {
  const { cpuRatio, cpuMicrosPerRequest } = variant;
  const from = baseOf(result) ?? {
    ...variant,
    cpuMicrosPerRequest: cpuMicrosPerRequest * cpuRatio.value,
  };
  return savedMicros(from, cpuRatio);
}

function listed<T>(items: readonly T[], text: (item: T) => Text, separator = '; '): Text {
  const more = items.length - MAX_NAMED;
  const shown = items
    .slice(0, MAX_NAMED)
    .flatMap((item, index) => say`${index > 0 && separator}${text(item)}`);
  return say`${shown}${more > 0 && `${separator}and ${more} more, in the table`}`;
}

function variantRows({ measured }: Figures): MeasuredRow[] {
  return measured.filter((row) => row.role === 'variant');
}

function finding(word: Text, text: Text): Finding {
  return { word, text };
}

function negated({ value, low, high }: Interval): Interval {
  return { value: -value, low: -high, high: -low };
}

function distance(row: MeasuredRow): number {
  return Math.abs(Math.log(row.variant.cpuRatio.value));
}
