import { callsMarkdown } from '../../calls-out/report/calls-markdown.ts';
import { wholeRequest } from '../budget.ts';
import type { BudgetRow, StageFigures, StairsResult } from '../result.ts';
import { fixed, percent, range } from '../../report/format.ts';
import {
  bold,
  code,
  heading,
  list,
  markdownOf,
  table,
  warningList,
  escaped,
} from '../../report/markdown.ts';
import { statusWords } from './stairs-budget.ts';
import { unitText } from './stairs-terminal.ts';
import {
  allocatedText,
  collectorText,
  memorySentence,
  stairsResolution,
  waitText,
  whatIfSentence,
} from './stairs-words.ts';

/** Renders the stages and, with a budget, the status of each. */
export function stairsMarkdown(result: StairsResult): string {
  const { stages, budget, title, leftOut, whatIf } = result;
  const hasWaiting = stages.some((stage) => waitText(stage) !== '');
  const columns = [
    'stage',
    { right: 'µs' },
    { right: '95 % interval' },
    { right: 'share' },
    'verdict',
    ...(hasWaiting ? [{ right: 'ms wait' }] : []),
    ...(hasMemory(result) ? [{ right: 'kB' }, { right: 'gc %' }] : []),
    ...(budget ? [{ right: `of budget, ${unitText(budget.unit)}` }, 'budget'] : []),
    'place',
  ];
  return markdownOf(
    heading(title),
    warningList(result.warnings),
    budget &&
      (budget.failed ? bold('A stage is over its budget.') : 'Every stage keeps its budget.'),
    table(columns, rowsOf(result, hasWaiting)),
    callsMarkdown(result.calls),
    whatIf && escaped(whatIfSentence(whatIf)),
    leftOut.length > 0
      ? list(leftOut.map(({ name, reason }) => `${code(name)} was not cut: ${escaped(reason)}.`))
      : undefined,
    memorySentence(result),
    stairsResolution(result),
  );
}

interface RowOptions {
  wait?: string;
  memory?: Pick<StageFigures, 'memory'>;
  ofBudget: string[];
  place?: string;
}

function hasMemory({ whole }: StairsResult): boolean {
  return whole.memory !== undefined;
}

function rowsOf(result: StairsResult, hasWaiting: boolean): string[][] {
  const { stages, whole, budget } = result;
  const budgetOf = (stage: string): string[] =>
    budgetCells(budget?.rows.find(({ name }) => name === stage));
  const gone = (budget?.rows ?? []).filter(({ status }) => status === 'missing');
  const withMemory = hasMemory(result);
  const row = (
    cells: string[],
    { wait = '', memory = {}, ofBudget, place = '' }: RowOptions,
  ): string[] => [
    ...cells,
    ...(hasWaiting ? [wait] : []),
    ...(withMemory ? [allocatedText(memory), collectorText(memory)] : []),
    ...(budget ? ofBudget : []),
    code(place),
  ];
  const { micros } = whole;
  const wholeCells = [wholeRequest, fixed(micros.value, 1), range(micros, 1), '', 'measured'];
  return [
    ...stages.map((stage) =>
      row(cellsOf(stage, result), {
        wait: waitText(stage),
        memory: stage,
        ofBudget: budgetOf(stage.name),
        place: stage.place,
      }),
    ),
    ...gone.map(({ name, limit }) =>
      row([code(name), '–', '', '', ''], {
        ofBudget: [`– / ${fixed(limit!, 2)}`, bold(statusWords.missing)],
      }),
    ),
    row(wholeCells, { memory: whole, ofBudget: budgetOf(wholeRequest) }),
  ];
}

function cellsOf(
  { name, micros, share, verdict }: StageFigures,
  { whole }: StairsResult,
): string[] {
  const word = whole.controlVerdict === 'changed' ? 'withheld' : verdict;
  return [
    code(name),
    fixed(micros.value, 1),
    range(micros, 1),
    percent(share),
    word === 'changed' ? bold(word) : word,
  ];
}

function budgetCells(row: BudgetRow | undefined): string[] {
  if (row === undefined) return ['', ''];
  const { measured, limit, status } = row;
  const used =
    limit === undefined ? '' : `${measured ? fixed(measured.value, 2) : '–'} / ${fixed(limit, 2)}`;
  return [used, status === 'over' ? bold(statusWords.over) : statusWords[status]];
}
