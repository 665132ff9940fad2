/** Min table width; in a narrower terminal, lines wrap. */
const minWidth = 60;
const usualWidth = 80;

/** Uses the full width of a terminal, and the usual width for a file. */
export function tableWidth(terminalWidth: number | undefined): number {
  return Math.max(minWidth, terminalWidth ?? usualWidth);
}

/** Gives a name too long for its column lines of its own: two truncated names might look identical. */
export function named(
  name: string,
  nameWidth: number,
  width: number,
  cells: (name: string) => string,
): string[] {
  return widthOf(name) <= nameWidth ? [cells(name)] : [...wrap(name, width), cells('')];
}

/** Returns the width in terminal columns, for text without wide characters. */
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

/** Truncates at the end, marked with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${[...text].slice(0, Math.max(0, width - 1)).join('')}…`;
}

/**
 * Truncates the names of one column to a width: at the end, or in the middle if another name starts alike, to keep the
 * distinguishing part. Names that would still be identical are kept in full.
 */
export function cutApart(names: readonly string[], width: number): string[] {
  const cuts = names.map((name) => {
    const start = name.slice(0, Math.ceil(width / 2));
    const alike = names.filter((other) => other !== name && other.startsWith(start));
    if (alike.length === 0) return cut(name, width);
    const same = Math.max(...alike.map((other) => sameStart(name, other)));
    const tail = Math.max(Math.floor((width - 1) / 2), widthOf(name.slice(same)));
    return cutMiddle(name, width, Math.min(tail, width - 4));
  });
  return cuts.map((text, index) =>
    cuts.some((other, at) => other === text && names[at] !== names[index]) ? names[index]! : text,
  );
}

function sameStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

/** @param tail Number of characters kept from the end. */
function cutMiddle(text: string, width: number, tail: number): string {
  const characters = [...text];
  if (characters.length <= width || tail < 1) return cut(text, width);
  return `${characters.slice(0, width - 1 - tail).join('')}…${characters.slice(-tail).join('')}`;
}

export function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.map(widthOf));
}

/** Puts two texts at the two ends of a line; the second goes below if they do not fit. */
export function ends(start: string, end: string, width: number): string[] {
  if (end === '') return wrap(start, width);
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
