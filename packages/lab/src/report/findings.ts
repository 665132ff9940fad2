import { type BenchResult, isMeasured } from '../result.ts';
import { columnDecimals, fixed, range } from './format.ts';
import { join, markup, type Markup } from './markup.ts';
import { type Estimate, type Reading, trustOf } from './reading.ts';
import { baseOf, isMeasuredRow, type MeasuredRow, rowsOf, type StepRow, stepsOf } from './rows.ts';
import { blocksHint, savedWords, verdictWord } from './words.ts';

/** More than this on page one and nobody reads the first; the table has them all. */
const MOST_NAMED = 8;
const NOTEWORTHY_MEMORY = 0.1;

/** The sentences a reader takes away. Changed and unresolved ones; what stayed the same is named in one line. */
export function findings(result: BenchResult): Markup {
  const rows = rowsOf(result)
    .filter(isMeasuredRow)
    .filter((row) => row.role === 'variant');
  const trusted = trustOf(result).cpu;
  const items = !trusted
    ? []
    : result.command === 'ladder'
      ? ladderFindings(result, rows)
      : benchFindings(result, rows);
  const skipped = result.variants
    .filter((variant) => !isMeasured(variant))
    .map((variant) => variant.name);
  if (skipped.length > 0)
    items.push(
      finding(
        verdictWord('base', 'skipped'),
        markup`${names(skipped)}: not measured, the reason is in the table.`,
      ),
    );
  if (items.length === 0 && trusted)
    items.push(
      finding(verdictWord('base', 'nothing'), markup`No variant was measured against the base.`),
    );
  return items.length === 0
    ? markup``
    : markup`<ul class="find" aria-label="Findings">${items}</ul>`;
}

function ladderFindings(result: BenchResult, rows: MeasuredRow[]): Markup[] {
  const top = rows.at(-1);
  const steps = stepsOf(result);
  const decimals = columnDecimals(
    steps.map((step) => step.saved),
    1,
  );
  const group = (reading: Reading, intro: string, text: (step: StepRow) => Markup): Markup[] => {
    const found = steps.filter((step) => step.saved.reading === reading);
    if (found.length === 0) return [];
    return [
      finding(
        verdictWord(reading),
        markup`${intro}: ${listed(found, (step) => Math.abs(step.saved.value), text)}.`,
      ),
    ];
  };
  return [
    ...(top
      ? [
          finding(
            verdictWord(top.cpu.reading),
            markup`The top rung against the base: ${sentence(result, top)}`,
          ),
        ]
      : []),
    ...group('better', 'Rungs that cost less CPU than the one below', (step) =>
      stepText(step, decimals),
    ),
    ...group('worse', 'Rungs that cost more CPU than the one below', (step) =>
      stepText(step, decimals),
    ),
    ...group('unresolved', 'Rungs not told apart from the one below', (step) =>
      unsettled(step.name, step.cpu),
    ),
    ...group(
      'same',
      'Rungs that change nothing against the one below',
      (step) => markup`<b>${step.name}</b>`,
    ),
  ];
}

function benchFindings(result: BenchResult, rows: MeasuredRow[]): Markup[] {
  const of = (...readings: Reading[]): MeasuredRow[] =>
    rows.filter((row) => readings.includes(row.cpu.reading));
  const changed = of('better', 'worse').toSorted((a, b) => distance(b) - distance(a));
  const items = changed
    .slice(0, MOST_NAMED)
    .map((row) => finding(verdictWord(row.cpu.reading), sentence(result, row)));
  if (changed.length > MOST_NAMED)
    items.push(
      finding(
        verdictWord('base', 'changed'),
        markup`${changed.length - MOST_NAMED} more, in the table.`,
      ),
    );
  const open = of('unresolved');
  if (open.length > 0)
    items.push(
      finding(
        verdictWord('unresolved'),
        markup`${listed(
          open,
          () => 0,
          (row) => unsettled(row.name, row.cpu),
        )}.`,
      ),
    );
  const same = of('same');
  if (same.length > 0)
    items.push(
      finding(
        verdictWord('same'),
        markup`${listed(
          same,
          () => 0,
          (row) => markup`<b>${row.name}</b> ${ratioText(row.cpu)}`,
        )} in CPU per request.`,
      ),
    );
  return items;
}

/** `fastify 5: 14.9 µs less CPU per request [13.8, 16.0], 1.27 × the requests [1.23, 1.31].` */
function sentence(result: BenchResult, row: MeasuredRow): Markup {
  const base = baseOf(result);
  const parts: string[] = [];
  if (base) {
    const from = base.cpuMicrosPerRequest;
    const saved = {
      value: from - row.cpu.value,
      low: from - row.cpu.high,
      high: from - row.cpu.low,
    };
    const amount = savedWords(saved, columnDecimals([saved], 1), 'µs * CPU per request');
    const blocks = blocksHint(row.cpu);
    parts.push(amount + (blocks === undefined ? '' : ` (${blocks} a variant would settle it)`));
  }
  const requests = `${ratioText(row.rps)}`;
  if (row.rps.reading === 'same') parts.push(`the same requests per second, ${requests}`);
  else if (row.rps.reading === 'unresolved')
    parts.push(`requests per second unresolved at ${requests}`);
  else parts.push(`${requests.replace(' [', ' the requests [')}`);
  if (base && row.p99) {
    const { p99, p99Low, p99High } = row.variant.latencyMs;
    const decimals = columnDecimals([{ value: p99, low: p99Low, high: p99High }], 1);
    parts.push(
      `p99 ${fixed(p99, decimals)} ms ${range({ low: p99Low, high: p99High }, decimals)} against ${fixed(base.latencyMs.p99, decimals)}`,
    );
  }
  const memory = base ? row.variant.rssMiB - base.rssMiB : 0;
  if (base && Math.abs(memory) >= base.rssMiB * NOTEWORTHY_MEMORY) {
    parts.push(`${fixed(Math.abs(memory))} MiB ${memory > 0 ? 'more' : 'less'} memory`);
  }
  return markup`<b>${row.name}</b>: ${parts.join(', ')}.`;
}

function stepText(step: StepRow, decimals: number): Markup {
  const cost = step.saved.value < 0;
  const saved = cost
    ? { value: -step.saved.value, low: -step.saved.high, high: -step.saved.low }
    : step.saved;
  return markup`<b>${step.name}</b> ${fixed(saved.value, decimals)}\u00a0µs ${range(saved, decimals).replace(' ', '\u00a0')}`;
}

function unsettled(name: string, estimate: Estimate): Markup {
  const blocks = blocksHint(estimate);
  return markup`<b>${name}</b> ${ratioText(estimate)}${blocks !== undefined && `, ${blocks} a variant would settle it`}`;
}

function ratioText(ratio: Estimate): string {
  const decimals = columnDecimals([ratio], 2);
  return `${fixed(ratio.value, decimals)} × ${range(ratio, decimals)}`;
}

function listed<T>(
  items: readonly T[],
  size: (item: T) => number,
  text: (item: T) => Markup,
): Markup {
  const shown = items.toSorted((a, b) => size(b) - size(a)).slice(0, MOST_NAMED);
  const more = items.length - shown.length;
  return markup`${join(shown.map(text), '; ')}${more > 0 && `; and ${more} more, in the table`}`;
}

function names(all: readonly string[]): Markup {
  return join(
    all.slice(0, MOST_NAMED).map((name) => markup`<b>${name}</b>`),
    ', ',
  );
}

function finding(word: Markup, text: Markup): Markup {
  return markup`<li>${word}<span>${text}</span></li>`;
}

function distance(row: MeasuredRow): number {
  return Math.abs(Math.log(row.variant.cpuRatio.value));
}
