import { fixed, percent, range } from '../report/format.ts';
import { statusWords } from '../report/stairs-budget.ts';
import { unitText } from '../report/stairs-terminal.ts';
import type { BudgetRow, StageFigures, StairsResult } from './result.ts';
import { wholeRequest } from './budget.ts';

/** The table for a pull request. Without a budget it is the stages alone. */
export function budgetMarkdown(result: StairsResult): string {
  const { stages, whole, budget, title } = result;
  const rows = stages.slice(1).map((stage) =>
    stageRow(
      stage,
      budget?.rows.find(({ name }) => name === stage.name),
    ),
  );
  const gone = (budget?.rows ?? []).filter(({ status }) => status === 'missing');
  const all = budget?.rows.find(({ name }) => name === wholeRequest);
  const unit = budget ? unitText(budget.unit) : '';
  const head = [
    'stage',
    'µs',
    '95 % interval',
    'share',
    ...(budget ? [`of budget, ${unit}`, 'verdict'] : []),
  ];
  const summary = budget
    ? budget.failed
      ? '**A stage is over its budget.**'
      : 'Every stage keeps its budget.'
    : '';
  return [
    `### ${escape(title)}`,
    '',
    ...(summary === '' ? [] : [summary, '']),
    line(head),
    line(head.map((_, index) => (index === 0 || index === 5 ? '---' : '--:'))),
    ...rows.map((cells) => line(cells.slice(0, head.length))),
    ...gone.map(({ name, limit }) =>
      line([code(name), '–', '', '', `– / ${fixed(limit!, 2)}`, `**${statusWords.missing}**`]),
    ),
    line(
      [
        'whole request',
        fixed(whole.micros.value, 1),
        range(whole.micros, 1),
        '',
        ...(budget ? [all ? used(all) : '', all ? statusText(all) : ''] : []),
      ].slice(0, head.length),
    ),
    '',
  ].join('\n');
}

function stageRow({ name, micros, share }: StageFigures, row: BudgetRow | undefined): string[] {
  return [
    code(name),
    fixed(micros.value, 1),
    range(micros, 1),
    percent(share),
    row?.limit === undefined ? '' : used(row),
    row ? statusText(row) : '',
  ];
}

function used({ measured, limit }: BudgetRow): string {
  return `${measured ? fixed(measured.value, 2) : '–'} / ${fixed(limit ?? 0, 2)}`;
}

function statusText({ status }: BudgetRow): string {
  return status === 'over' ? `**${statusWords.over}**` : statusWords[status];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function code(name: string): string {
  return `\`${name.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

function escape(text: string): string {
  return text.replaceAll(/[<>|*_`]/g, '\\$&');
}
