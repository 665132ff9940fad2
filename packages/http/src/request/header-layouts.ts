type Headers = Record<string, string | string[]>;

/** The names of a header block, in their order and spelling, and an object that has them in lower case. */
interface Layout {
  readonly names: readonly string[];
  readonly lowerNames: readonly string[];
  readonly template: Headers;
}

/** Of blocks with the same number of headers: a server has few kinds of clients, or a proxy in front of all of them. */
const KEPT = 4;
/** Of a block with more headers, or a longer name, nothing is kept: a client may send any number of them. */
const MOST_HEADERS = 32;
const LONGEST_NAME = 64;
/** Blocks that fit none before another is kept: one that never comes again costs more than it gains. */
const PATIENCE = 16;

/** By the number of headers. */
const layouts: (Layout[] | undefined)[] = [];
let misses = 0;
let next = 0;

/**
 * The headers of a block with the names of one before, by a copy of what was made of that: V8 copies an object in the time of two
 * or three of its properties, and finds a property that is there faster than one that is not. Undefined where there was none.
 */
export function fromLayout(raw: readonly string[]): Headers | undefined {
  const known = layouts[raw.length >> 1];
  if (known === undefined) return undefined;
  for (const layout of known) {
    if (!fits(layout, raw)) continue;
    const headers = { ...layout.template };
    const { lowerNames } = layout;
    for (let index = 0; index < lowerNames.length; index++)
      headers[lowerNames[index]!] = raw[2 * index + 1]!;
    return headers;
  }
  return undefined;
}

/** Keeps the layout of a block that had none, once there were enough of them. `headers` is what was made of it. */
export function keepLayout(raw: readonly string[], headers: Headers): void {
  const count = raw.length >> 1;
  if (count > MOST_HEADERS) return;
  misses += 1;
  if (misses < PATIENCE) return;
  misses = 0;
  const lowerNames = Object.keys(headers);
  // Two of one name are joined, or one of them is left out; `set-cookie` is a list.
  const isKeptAsIs = (name: string): boolean =>
    name.length <= LONGEST_NAME && typeof headers[name] === 'string';
  if (lowerNames.length !== count || !lowerNames.every(isKeptAsIs)) return;
  const names = lowerNames.map((_, index) => raw[2 * index]!);
  // In another order are names that are numbers, which nobody sends.
  if (names.some((name, index) => name.toLowerCase() !== lowerNames[index])) return;
  const layout = { names: names.map(internalized), lowerNames, template: { ...headers } };
  for (const name of lowerNames) layout.template[name] = '';
  const known = (layouts[count] ??= []);
  if (known.length < KEPT) known.push(layout);
  else known[next++ % KEPT] = layout;
}

function fits({ names }: Layout, raw: readonly string[]): boolean {
  for (let index = 0; index < names.length; index++)
    if (raw[2 * index] !== names[index]) return false;
  return true;
}

/** As V8 has the names of properties: no part of a block, and mostly the very text that the engine's table has. */
function internalized(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}
