/** What tables are drawn for at least; in a terminal that is narrower still, their lines break. */
const leastWidth = 60;
const usualWidth = 80;

/** The whole width of a terminal; that of a file is the usual one. */
export function tableWidth(terminalWidth: number | undefined): number {
  return Math.max(leastWidth, terminalWidth ?? usualWidth);
}

/** A name too long for its column gets lines of its own: cut, two of them might read the same. */
export function named(
  name: string,
  nameWidth: number,
  width: number,
  cells: (name: string) => string,
): string[] {
  return widthOf(name) <= nameWidth ? [cells(name)] : [...wrap(name, width), cells('')];
}

/** Width as a terminal counts it, for text without wide characters. */
export function widthOf(text: string): number {
  let width = 0;
  for (const _ of text) width++;
  return width;
}

export function left(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

export function right(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text;
}

export interface Column {
  /** A cell that is wider keeps its width. */
  readonly width: number;
  /** @default 'left' */
  readonly align?: 'left' | 'right';
  /** Spaces before it. @default 2 */
  readonly gap?: number;
}

/** Writes the lines of a table from named cells. Columns stand in the order they are given in. */
export function lineOf<Name extends string>(
  columns: Readonly<Record<Name, Column>>,
): (cells: Readonly<Record<Name, string>>) => string {
  const ordered = Object.entries<Column>(columns) as [Name, Column][];
  return (cells) =>
    ordered
      .map(([name, { width, align = 'left', gap = 2 }]) => {
        const cell = align === 'left' ? left(cells[name], width) : right(cells[name], width);
        return ' '.repeat(gap) + cell;
      })
      .join('');
}

/** Cut at the end, which is said by the last character. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${[...text].slice(0, Math.max(0, width - 1)).join('')}…`;
}

export function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(widthOf));
}

/** Two texts at the two ends of a line; the second goes below when they do not fit. */
export function ends(start: string, end: string, width: number): string[] {
  const gap = width - widthOf(start) - widthOf(end);
  if (gap >= 2) return [start + ' '.repeat(gap) + end];
  return [start, end].flatMap((text) => (widthOf(text) <= width ? [text] : wrap(text, width)));
}

export function wrap(text: string, width: number, indent = ''): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/ +/)) {
    let rest = word;
    const candidate = line === '' ? rest : `${line} ${rest}`;
    if (widthOf(candidate) <= width) {
      line = candidate;
      continue;
    }
    if (line !== '') lines.push(line);
    line = indent;
    while (widthOf(line + rest) > width) {
      const room = width - widthOf(line);
      lines.push(line + [...rest].slice(0, room).join(''));
      rest = [...rest].slice(room).join('');
      line = indent;
    }
    line += rest;
  }
  if (line.trim() !== '') lines.push(line);
  return lines;
}
