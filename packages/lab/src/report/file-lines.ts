import { left, widest, widthOf } from './columns.ts';

/** Names the files of a report, the page first. */
export function writtenFiles({ html, json }: { html?: string; json?: string } = {}): Record<
  string,
  string | undefined
> {
  return { report: html, data: json };
}

/**
 * Returns the last lines of a terminal report: the files written. On one line if they fit, otherwise one per line. Paths are never
 * truncated, so that they can be copied.
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
