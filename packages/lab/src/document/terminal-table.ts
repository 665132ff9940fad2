import { paint } from '../report/colour.ts';
import {
  cut,
  cutApart,
  left,
  named,
  right,
  widest,
  widthOf as textWidth,
  wrap,
} from '../report/columns.ts';
import type { Reading } from '../report/reading.ts';
import { axisLine, barLine, plotLine } from '../report/terminal-plot.ts';
import {
  type Cell,
  type Head,
  headText,
  isEstimate,
  isIn,
  isPlotted,
  isText,
  type Plotted,
  shownRows,
  type Table,
} from './document.ts';
import { type Canvas, linesOf, markedWord, plain, verdictsIn } from './text.ts';

const minNameWidth = 13;
const minPlotWidth = 10;
const minFilledWidth = 20;
const indent = '    ';

interface Column {
  head: Head;
  cells: readonly (Cell | undefined)[];
}

/** A column of a terminal, with a text for each row. */
interface Drawn {
  head: string;
  unit?: string | undefined;
  texts: readonly string[];
  width: number;
  /** Number of spaces before it. @default 2 */
  gap?: number;
  isRight?: boolean;
  isOptional?: boolean | undefined;
  /** Stand in for the words of verdicts where these have no room. */
  marks?: readonly string[];
  readings?: readonly (Reading | undefined)[];
  /** Fills the room that the other columns leave. */
  fill?: (width: number) => Pick<Drawn, 'head' | 'texts'>;
  isPlot?: boolean;
}

/** Renders a table. Without room for everything, names stand above their rows, and what the page has too is left out. */
export function tableLines(table: Table, canvas: Canvas): string[] {
  const { width } = canvas;
  const { hasUnitLine } = table;
  const { rows, rest } = shownRows('terminal', table);
  if (rows.length === 0) return [];
  const columns = table.columns.flatMap((head, index) =>
    isIn('terminal', head) ? [{ head, cells: rows.map(({ cells }) => cells[index]) }] : [],
  );
  const inline = columns.filter(({ head }) => head.isDetail !== true);
  const details = columns.filter(({ head }) => head.isDetail === true);
  const nameColumn = columns.find(({ head }) => head.kind === 'name')!;
  const whole = nameColumn.cells.map((cell) => textOf(cell));
  const nameHead = headText(nameColumn.head);
  const drawnOthers = inline
    .filter((each) => each !== nameColumn)
    .flatMap((each, index, all) =>
      drawn(each, { ...canvas, hasUnitLine }, [all[index - 1], all[index + 1]]),
    );
  const isFilled = drawnOthers.some(({ fill }) => fill !== undefined);
  const natural = Math.min(
    widest([nameHead, ...whole]),
    isFilled ? Math.max(minNameWidth, Math.floor(width / 3)) : width,
  );
  const others = fitting(drawnOthers, width, natural);
  const room = width - widthOf(others);
  const nameWidth = natural <= room ? natural : room >= minNameWidth ? room : 0;
  const isCut = nameColumn.head.isCode === true && nameWidth > 0;
  const names = isCut ? cutApart(whole, nameWidth) : whole;
  const spare = room - nameWidth;
  const drawnColumns = others.map((each) => {
    const own = each.width + spare;
    return each.fill === undefined ? each : { ...each, ...each.fill(own), width: own };
  });
  const lineOf = (name: string, part: (each: Drawn) => string): string =>
    left(name, nameWidth) +
    drawnColumns.map((each) => ' '.repeat(each.gap ?? 2) + part(each)).join('');
  const line = (name: string, row: number): string =>
    lineOf(name, (each) => padded(each, each.texts[row] ?? '', each.readings?.[row], canvas));
  return [
    ...named(nameHead, nameWidth, width, (name) =>
      lineOf(name, (each) => padded(each, each.head, undefined, canvas)),
    ),
    ...(hasUnitLine
      ? [lineOf('', (each) => padded(each, each.unit ?? '', undefined, canvas))]
      : []),
    ...rows.flatMap(({ skipped }, row) => {
      const isAgain = table.groupsNames && row > 0 && names[row] === names[row - 1];
      const own = isAgain ? '' : names[row]!;
      const below = details.flatMap(({ head, cells }) => detailLines(cells[row], head, canvas));
      const lines = named(own, nameWidth, width, (name) => line(name, row));
      if (skipped !== undefined)
        lines.push(`${left(lines.pop()!.trimEnd(), nameWidth)}  – skipped: ${skipped}`);
      return [
        ...(below.length > 0 ? [''] : []),
        ...lines.flatMap((each) => (skipped === undefined ? [each] : wrap(each, width, '  '))),
        ...below,
      ];
    }),
    ...(rest === undefined ? [] : wrap(rest, width, '  ')),
  ];
}

/** @param neighbours The columns before and after it: a plot before an estimate stands between its value and its interval. */
function drawn(
  { head, cells }: Column,
  canvas: Canvas & Pick<Table, 'hasUnitLine'>,
  neighbours: readonly (Column | undefined)[],
): Drawn[] {
  const { glyphs, hasUnitLine } = canvas;
  const [before, after] = neighbours;
  const { isOptional, isTight, unit } = head;
  const column = (title: string, texts: readonly string[]): Drawn => ({
    head: title,
    unit: hasUnitLine ? unit : undefined,
    texts,
    width: widest([title, ...texts]),
    isOptional,
    ...(isTight === true && { gap: 0 }),
  });
  const title = hasUnitLine ? head.head : headText(head);
  if (head.kind === 'plot')
    return after?.head.kind === 'estimate' ? [] : [plotOf({ head, cells }, canvas)];
  if (head.shorten !== undefined) {
    const fill: Drawn['fill'] = (width) => ({
      head: title,
      texts: cells.map((cell) => head.shorten!(textOf(cell), width)),
    });
    return [{ head: '', texts: [], width: minFilledWidth, fill }];
  }
  if (head.kind === 'estimate') {
    const figures = cells.map((cell) => (isEstimate(cell) ? cell : undefined));
    const values = figures.map((each) => (each === undefined ? '' : each.value + each.pad));
    const ranges = figures.map((each) => each?.range ?? '');
    return [
      { ...column(title, values), isRight: true },
      ...(before?.head.kind === 'plot' ? [plotOf(before, canvas)] : []),
      column('95 % interval', ranges),
    ];
  }
  const verdicts = cells.map((cell) => (isText(cell) ? verdictsIn(cell)[0] : undefined));
  if (verdicts.every((verdict) => verdict === undefined)) {
    return [{ ...column(title, cells.map(textOf)), isRight: head.kind === 'figure' }];
  }
  const words = verdicts.map((verdict) => (verdict ? markedWord(verdict, glyphs) : ''));
  return [
    {
      ...column(title === '' ? '' : `  ${title}`, words),
      marks: verdicts.map((verdict) => (verdict ? glyphs.marks[verdict.reading] : '')),
      readings: verdicts.map((verdict) => verdict?.reading),
    },
  ];
}

function plotOf({ head, cells }: Column, { glyphs }: Canvas): Drawn {
  const axis = head.axis!;
  const draw = ({ estimate, from = 0 }: Plotted, width: number): string =>
    head.bars
      ? barLine(axis, from, estimate, width, glyphs)
      : plotLine(axis, estimate, width, glyphs);
  return {
    head: '',
    texts: [],
    width: minPlotWidth,
    isPlot: true,
    isOptional: head.bars,
    fill: (width) => ({
      head: axisLine(axis, width),
      texts: cells.map((cell) => (isPlotted(cell) ? draw(cell, width) : '')),
    }),
  };
}

/** Leaves out optional columns and bars for the name, the last first; then the words of verdicts, and plots. */
function fitting(columns: readonly Drawn[], width: number, nameWidth: number): Drawn[] {
  let kept = [...columns];
  const least = Math.min(nameWidth, minNameWidth);
  while (widthOf(kept) + least > width && kept.some(({ isOptional }) => isOptional)) {
    kept.splice(
      kept.findLastIndex(({ isOptional }) => isOptional),
      1,
    );
  }
  if (widthOf(kept) <= width) return kept;
  kept = kept.map((each) =>
    each.marks === undefined ? each : { ...each, head: '', texts: each.marks, width: 1 },
  );
  return widthOf(kept) <= width ? kept : kept.filter(({ isPlot }) => isPlot !== true);
}

/** Counts the gaps before the columns, which follow the name. */
function widthOf(columns: readonly Drawn[]): number {
  return columns.reduce((sum, { gap = 2, width }) => sum + gap + width, 0);
}

function padded(
  { width, isRight }: Drawn,
  text: string,
  reading: Reading | undefined,
  { colour }: Canvas,
): string {
  if (isRight) return right(text, width);
  // Escape sequences have no width.
  const gap = ' '.repeat(Math.max(0, width - textWidth(text)));
  return paint(text, reading ?? 'base', colour) + gap;
}

function detailLines(cell: Cell | undefined, head: Head, canvas: Canvas): string[] {
  if (!isText(cell) || plain(cell) === '') return [];
  const inner = { ...canvas, width: canvas.width - indent.length };
  const lines = head.isCode ? [cut(plain(cell), inner.width)] : linesOf(cell, inner, '');
  return lines.map((each) => indent + each);
}

function textOf(cell: Cell | undefined): string {
  return isText(cell) ? plain(cell) : '';
}
