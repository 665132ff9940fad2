import { left, widest, widthOf } from './columns.ts';

/** Of a report: the page first. */
export function writtenFiles({ html, json }: { html?: string; json?: string } = {}): Record<
  string,
  string | undefined
> {
  return { report: html, data: json };
}

/**
 * The last lines of a terminal report: what was written, and where. On one line if it fits, otherwise one below the other.
 * Paths are cut nowhere: they are there to be copied.
 */
export function fileLines(
  files: Readonly<Record<string, string | undefined>>,
  width: number,
): string[] {
  const named = Object.entries(files).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const line = named.map(([name, file]) => `${name}  ${file}`).join('      ');
  if (named.length > 0 && widthOf(line) <= width) return [line];
  const nameWidth = widest(named.map(([name]) => name));
  return named.map(([name, file]) => `${left(name, nameWidth)}  ${file}`);
}
