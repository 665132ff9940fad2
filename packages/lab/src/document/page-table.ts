import { columnWidth } from '../report/text-width.ts';
import { markup, Markup } from '../report/markup.ts';
import { axisHeader, bar, dot, plotBackground, plotCell, whisker } from '../report/plot.ts';
import { padded } from '../report/words.ts';
import {
  type Cell,
  type Head,
  headText,
  isEstimate,
  isIn,
  isPlotted,
  isText,
  type Plotted,
  type Row,
  shownRows,
  type Table,
} from './document.ts';
import { plain, type Text, toMarkup, verdictsIn } from './text.ts';

export interface TableOfPage {
  body: Markup;
  css: string;
}

interface Placed {
  head: Head;
  index: number;
}

/** Renders a table of a page, with the rules for its columns. Roles are named, because a narrow page stacks the cells. */
export function tableOfPage(table: Table, id: string): TableOfPage {
  const { rows, rest } = shownRows('page', table);
  const all = table.columns
    .map((head, index): Placed => ({ head, index }))
    .filter(({ head }) => isIn('page', head));
  const columns = all.filter(({ head }) => head.isDetail !== true);
  const details = all.filter(({ head }) => head.isDetail === true);
  const heads = columns.map(({ head }) => headOf(head));
  const body = rows.map((row) => rowOf(row, columns, details));
  return {
    body: markup`<table class="t s" id="${id}" role="table"><colgroup>${columns.map((_, at) => markup`<col class="c${at}">`)}</colgroup>
<thead role="rowgroup"><tr role="row">${heads}</tr></thead>
<tbody role="rowgroup" data-rove>${body}</tbody></table>${rest !== undefined && markup`<p class="lead note">${rest}</p>`}`,
    css: columns.map((column, at) => columnStyle(column, rows, `#${id}`, at)).join(''),
  };
}

function headOf(head: Head): Markup {
  const { unit, axis } = head;
  const isEstimated = head.kind === 'estimate';
  const small = isEstimated ? '95 % interval' : unit;
  return markup`<th role="columnheader" class="${classOf(head)}">${isEstimated ? headText(head) : head.head}${small !== undefined && markup`<small>${small}</small>`}${axis && axisHeader(axis)}</th>`;
}

function rowOf(
  { cells, skipped, className }: Row,
  columns: readonly Placed[],
  details: readonly Placed[],
): Markup {
  const missing = columns.findIndex(({ index }) => cells[index] === undefined);
  const end = skipped === undefined || missing < 0 ? columns.length : missing;
  const shown = columns.slice(0, end).map(({ head, index }, at) => {
    const cell = cells[index];
    if (head.kind === 'name') {
      const small = details.map((detail) => detailOf(detail.head, cells[detail.index]));
      return markup`<th role="rowheader" scope="row" class="name">${isText(cell) && toMarkup(cell)}${small}</th>`;
    }
    const label = head.axis === undefined && markup` data-l="${headText(head)}"`;
    return markup`<td role="cell" class="${classOf(head)} c${at}"${label}>${cellOf(head, cell)}</td>`;
  });
  const why =
    end < columns.length &&
    markup`<td role="cell" class="skipped" colspan="${columns.length - end}"><span class="v skip">skipped:</span> ${skipped}</td>`;
  return markup`<tr role="row"${className !== undefined && markup` class="${className}"`}>${shown}${why}</tr>
`;
}

function detailOf({ isCode }: Head, cell: Cell | undefined): Markup {
  if (!isText(cell) || plain(cell) === '') return markup``;
  return markup`<small${isCode && markup` class="line"`}>${toMarkup(cell)}</small>`;
}

function cellOf(head: Head, cell: Cell | undefined): Markup | undefined {
  if (cell === undefined || cell instanceof Markup) return cell;
  if (isText(cell))
    return head.kind === 'figure' && head.isMain
      ? markup`<b>${toMarkup(cell)}</b>`
      : toMarkup(cell);
  if (isPlotted(cell)) return plotted(head, cell);
  return markup`<b>${padded(cell)}</b><small>${cell.range}</small>`;
}

function plotted(
  { axis, bars }: Head,
  { title, text, estimate, from = 0, marks = [] }: Plotted,
): Markup | undefined {
  if (axis === undefined) return undefined;
  const mark = bars
    ? markup`${marks}${bar(axis, from, estimate)}${whisker(axis, estimate)}`
    : markup`${whisker(axis, estimate)}${dot(axis, estimate)}`;
  return plotCell(title, text, mark);
}

function classOf({ kind }: Head): string {
  if (kind === 'figure' || kind === 'estimate') return 'n';
  return kind === 'text' ? 'words' : kind;
}

/** Makes columns of figures and verdicts as wide as their texts; the others share what is left. */
function columnStyle(
  { head, index }: Placed,
  rows: readonly Row[],
  id: string,
  at: number,
): string {
  const { axis, bars, reference, band, width } = head;
  if (axis !== undefined) {
    const background = plotBackground(axis, bars ? reference : 1, band);
    return `${id} td.c${at}{background:${background}}`;
  }
  const cells = rows.map(({ cells: all }) => all[index]);
  const own = width === undefined ? widthOf(head, cells) : `width:${width}`;
  return own === '' ? '' : `${id} col.c${at}{${own}}`;
}

function widthOf(head: Head, cells: readonly (Cell | undefined)[]): string {
  const texts = cells.filter((cell): cell is Text => isText(cell));
  const estimates = cells.filter(isEstimate);
  const words = texts.flatMap(verdictsIn).map(({ word }) => `○ ${word}`);
  if (words.length > 0) return columnWidth(words, [head.head]);
  if (head.kind !== 'figure' && head.kind !== 'estimate') return '';
  return columnWidth(
    [...texts.map(plain), ...estimates.map(({ value, pad }) => value + pad)],
    head.kind === 'estimate'
      ? [headText(head), '95 % interval', ...estimates.map(({ range }) => range)]
      : [head.head, head.unit ?? ''],
  );
}
