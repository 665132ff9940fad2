import { isWord } from './word-pattern.ts';

/** Deeper parts of a filter are left out. */
const maxDepth = 3;
const maxKeys = 8;

interface Command {
  filter?: unknown;
  query?: unknown;
  pipeline?: unknown;
  updates?: unknown;
  deletes?: unknown;
}

/** Returns a command of MongoDB without values: `find orders {userId: ?}`, `aggregate orders [$match {userId: ?}, $group]`. */
export function mongoShape(command: object): string {
  const [name = '', collection] = Object.entries(command)[0] ?? [];
  const { filter, query, pipeline, updates, deletes } = command as Command;
  const [first] = (updates ?? deletes ?? []) as { q?: unknown }[];
  const found = filter ?? query ?? first?.q;
  const parts = [name, typeof collection === 'string' ? collection : ''];
  if (Array.isArray(pipeline)) parts.push(`[${pipeline.map(stageOf).join(', ')}]`);
  else if (found !== undefined) parts.push(shapeOf(found, 0));
  return parts.filter((part) => part !== '').join(' ');
}

function stageOf(stage: unknown): string {
  const [name, value] = Object.entries(stage as object)[0] ?? ['', undefined];
  return name === '$match' ? `$match ${shapeOf(value, 0)}` : name;
}

/** Keeps operators and names of fields, as far as they are words. */
function shapeOf(value: unknown, depth: number): string {
  if (!isPlain(value)) return Array.isArray(value) ? '[…]' : '?';
  if (depth === maxDepth) return '{…}';
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, maxKeys)
    .map(([key, each]) => `${nameOf(key)}: ${partOf(each, depth)}`);
  return `{${[...shown, ...(entries.length > maxKeys ? ['…'] : [])].join(', ')}}`;
}

/** Fields may be named by ids: `carts.64f1c0ff.total` becomes `carts.*.total`. */
function nameOf(key: string): string {
  if (/^\$[a-z]{1,20}$/i.test(key)) return key;
  return key
    .split('.')
    .map((part) => (isWord(part) || isField(part) ? part : '*'))
    .join('.');
}

/** True for `_id`, and for names like `userId`. */
function isField(part: string): boolean {
  return part.length <= 20 && /^_{0,2}[a-z]{2,}(?:[A-Z][a-z]+){0,2}$|^__v$/.test(part);
}

function partOf(value: unknown, depth: number): string {
  if (Array.isArray(value) && value.some(isPlain))
    return `[${value
      .slice(0, maxKeys)
      .map((each) => shapeOf(each, depth + 1))
      .join(', ')}]`;
  return shapeOf(value, depth + 1);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
