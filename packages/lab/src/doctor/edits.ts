/** A replacement of part of a file. Positions refer to the unedited file. */
export interface Edit {
  file: { path: string; name: string; text: string };
  start: number;
  end: number;
  text: string;
}

const context = 2;

/** Applies edits to a text. Edits must not overlap. */
export function edited(text: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const edit of inOrder(edits)) {
    result += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return result + text.slice(at);
}

/** Formats the edits as a diff for `git apply` and `patch -p1`. */
export function diffOf(edits: readonly Edit[]): string {
  const byFile = Map.groupBy(edits, ({ file }) => file.path);
  return [...byFile.values()].map(fileDiff).join('');
}

/** Replacement of the lines from `first` to before `last`, counted from 0. */
interface Change {
  first: number;
  last: number;
  lines: string[];
}

function fileDiff(edits: readonly Edit[]): string {
  const { text, name } = edits[0]!.file;
  const before = linesOf(text);
  const starts = [0];
  for (const line of before) starts.push(starts.at(-1)! + line.length);
  const changes = joined(edits, before, starts, text);
  let out = `--- a/${name}\n+++ b/${name}\n`;
  let shift = 0;
  for (const group of hunks(changes)) {
    const from = Math.max(0, group[0]!.first - context);
    const to = Math.min(before.length, group.at(-1)!.last + context);
    const body: string[] = [];
    let at = from;
    let added = 0;
    for (const { first, last, lines } of group) {
      body.push(...before.slice(at, first).map((line) => ` ${line}`));
      body.push(...before.slice(first, last).map((line) => `-${line}`));
      body.push(...lines.map((line) => `+${line}`));
      added += lines.length - (last - first);
      at = last;
    }
    body.push(...before.slice(at, to).map((line) => ` ${line}`));
    out += `@@ -${from + 1},${to - from} +${from + 1 + shift},${to - from + added} @@\n${body.map(ended).join('')}`;
    shift += added;
  }
  return out;
}

/** Merges edits that share a line into one change. */
function joined(
  edits: readonly Edit[],
  before: readonly string[],
  starts: readonly number[],
  text: string,
): Change[] {
  const lineOf = (offset: number): number => {
    const line = starts.findLastIndex((start) => start <= offset);
    return Math.min(line, Math.max(0, before.length - 1));
  };
  const changes: { first: number; last: number; edits: Edit[] }[] = [];
  for (const edit of inOrder(edits)) {
    const first = lineOf(edit.start);
    const last = lineOf(Math.max(edit.start, edit.end - 1)) + 1;
    const previous = changes.at(-1);
    if (previous !== undefined && first < previous.last) {
      previous.last = Math.max(previous.last, last);
      previous.edits.push(edit);
    } else changes.push({ first, last, edits: [edit] });
  }
  return changes.map(({ first, last, edits: own }) => {
    const offset = starts[first]!;
    const piece = text.slice(offset, starts[last]);
    const moved = own.map((edit) => ({
      ...edit,
      start: edit.start - offset,
      end: edit.end - offset,
    }));
    return trimmed({ first, last, lines: linesOf(edited(piece, moved)) }, before);
  });
}

/** Drops unchanged lines at both ends of a change. */
function trimmed({ first, last, lines }: Change, before: readonly string[]): Change {
  let [from, to] = [first, last];
  const rest = [...lines];
  while (from < to && rest.length > 0 && rest[0] === before[from]) {
    rest.shift();
    from++;
  }
  while (from < to && rest.length > 0 && rest.at(-1) === before[to - 1]) {
    rest.pop();
    to--;
  }
  return { first: from, last: to, lines: rest };
}

function hunks(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.first - last.last <= 2 * context) groups.at(-1)!.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Splits into lines that keep their line breaks; the last may have none. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`;
}

function inOrder(edits: readonly Edit[]): Edit[] {
  return edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
}
