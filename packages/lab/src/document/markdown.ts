import { heading, markdownOf, table as markdownTable, warningList } from '../report/markdown.ts';
import {
  type Cell,
  type Document,
  type Drawing,
  type Drawn,
  headText,
  isEstimate,
  isIn,
  isText,
  type Item,
  type Part,
  present,
  type Row,
  type Section,
  shownRows,
  type Table,
} from './document.ts';
import { code, plain, type Text, toMarkdown } from './text.ts';

/** Renders a document for a pull request or an agent. */
export function renderMarkdown(document: Document): string {
  const { title, pageTitle = title, aside, about, alarm, warnings, sections, next } = document;
  return markdownOf(
    heading(aside === '' ? pageTitle : `${pageTitle}: ${aside}`),
    warningList(present([alarm && plain(alarm), ...warnings])),
    present(about).map(sentence).join(' '),
    ...present(sections).map(sectionMarkdown),
    next === undefined ? undefined : `Next: ${toMarkdown(code(next))}`,
  );
}

function sentence(text: Text): string {
  return `${toMarkdown(text)}${/[.!?]$/.test(plain(text)) ? '' : '.'}`;
}

function sectionMarkdown(section: Section | Drawing): string | undefined {
  if (!('parts' in section)) return section.markdown;
  return section.parts
    .filter((part) => isIn('markdown', part))
    .map(partMarkdown)
    .filter((text) => text !== '')
    .join('\n\n');
}

function partMarkdown(part: Part): string {
  switch (part.kind) {
    case 'table':
      return tableMarkdown(part);
    case 'notes':
      return present(part.texts).map(toMarkdown).join('\n\n');
    case 'commands':
      return `${part.intro}: ${part.lines.map((line) => toMarkdown(code(line))).join(', then ')}`;
    case 'items':
      return part.items.map(itemMarkdown).join('\n\n');
    case undefined:
      return drawnMarkdown(part);
  }
}

function itemMarkdown({ title, aside, lines }: Item): string {
  const head = [toMarkdown(title), toMarkdown(aside)].filter((text) => text !== '').join(', ');
  const texts = present(lines)
    .map((line) => drawnMarkdown(isText(line) ? { text: line } : line))
    .filter((text) => text !== '')
    .map((text) => (text.includes('\n') ? text : `- ${text}`));
  return [`**${head}**\n`, ...texts].join('\n');
}

function drawnMarkdown({ text = '', markdown }: Drawn): string {
  return markdown ?? toMarkdown(text);
}

function tableMarkdown(table: Table): string {
  const { rows, rest } = shownRows('markdown', table);
  const shown = table.columns
    .map((head, index) => ({ head, index }))
    .filter(({ head }) => isIn('markdown', head));
  const heads = shown.map(({ head }) =>
    head.kind === 'figure' || head.kind === 'estimate' ? { right: headText(head) } : headText(head),
  );
  if (rows.length === 0) return '';
  const lines = rows.map((row) => cellsOf(row, shown));
  const text = markdownTable(heads, lines);
  return rest === undefined ? text : `${text}\n\n${rest}`;
}

function cellsOf({ cells, skipped }: Row, shown: readonly { index: number }[]): string[] {
  const texts = shown.map(({ index }) => cellMarkdown(cells[index]));
  if (skipped === undefined) return texts;
  return [...texts.slice(0, -1).map((text) => text || '–'), `not measured: ${toMarkdown(skipped)}`];
}

function cellMarkdown(cell: Cell | undefined): string {
  if (isText(cell)) return toMarkdown(cell);
  return isEstimate(cell) ? `${cell.value} ${cell.range}`.trim() : '';
}
