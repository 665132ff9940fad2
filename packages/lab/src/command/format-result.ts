/** Max characters of a value on one line; longer ones are opened. */
const maxInlineLength = { list: 100, object: 1_000 };

/**
 * Formats a result as JSON that is committed, compared and read: each of its keys begins a line, and so does each element of its
 * lists, such as a variant or a warning. Slices of one block, which were measured side by side, share a line, as there are
 * hundreds.
 */
export function formatResult(result: object): string {
  // As it will be read back: without undefined values, and with a date as its text.
  return `${open(JSON.parse(JSON.stringify(result)) as Json[] | JsonObject, '')}\n`;
}

type Json = string | number | boolean | null | Json[] | JsonObject;
interface JsonObject {
  [key: string]: Json;
}

function open(value: Json[] | JsonObject, indent: string): string {
  const inner = `${indent}  `;
  const [lines, [start, end]] = Array.isArray(value)
    ? [blocksOf(value).map((block) => block.map((each) => JSON.stringify(each)).join(', ')), '[]']
    : [Object.entries(value).map((entry) => lineOf(entry, inner)), '{}'];
  return `${start}\n${lines.map((line) => inner + line).join(',\n')}\n${indent}${end}`;
}

function lineOf([key, value]: [string, Json], indent: string): string {
  return `${JSON.stringify(key)}: ${isOpened(value) ? open(value, indent) : JSON.stringify(value)}`;
}

/** Returns true for long values. Numbers that belong together stay together. */
function isOpened(value: Json): value is Json[] | JsonObject {
  if (typeof value !== 'object' || value === null) return false;
  const isList = Array.isArray(value);
  if (isList && value.every((each) => typeof each === 'number')) return false;
  return JSON.stringify(value).length > maxInlineLength[isList ? 'list' : 'object'];
}

function blocksOf(list: readonly Json[]): Json[][] {
  const blocks: Json[][] = [];
  let last: string | undefined;
  for (const each of list) {
    const block = blockOf(each);
    if (block === undefined || block !== last) blocks.push([]);
    blocks.at(-1)!.push(each);
    last = block;
  }
  return blocks;
}

/** Names the block of a slice of `redline bench`; undefined for everything else. */
function blockOf(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { restart, block } = value;
  return restart === undefined || block === undefined ? undefined : `${restart} ${block}`;
}
