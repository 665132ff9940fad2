type Headers = Record<string, string | string[]>;

/** The names of a header block, in their order and spelling, and an object with the names in lower case. */
interface Layout {
  readonly names: readonly string[];
  readonly lowerNames: readonly string[];
  readonly template: Headers;
}

/** Max layouts per number of headers: a server has few kinds of clients, or a proxy in front of all of them. */
const KEPT = 4;
/** Blocks with more headers, or a longer name, are not kept: clients can send any number of them. */
const MOST_HEADERS = 32;
const LONGEST_NAME = 64;
/** Misses before a layout is kept: one that never repeats costs more than it gains. */
const PATIENCE = 16;

/** Indexed by the number of headers. */
const layouts: (Layout[] | undefined)[] = [];
let misses = 0;
let next = 0;

/**
 * Returns the headers of a block whose names were seen before; otherwise undefined. An object with these names is copied and
 * filled in: V8 copies it in the time of two or three properties, and finds an existing property faster than a missing one.
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

/** Keeps the layout of a block after enough misses. `headers` is the object built from the block. */
export function keepLayout(raw: readonly string[], headers: Headers): void {
  const count = raw.length >> 1;
  if (count > MOST_HEADERS) return;
  misses += 1;
  if (misses < PATIENCE) return;
  misses = 0;
  const lowerNames = Object.keys(headers);
  // Duplicate names are joined or dropped; `set-cookie` is a list.
  const isKeptAsIs = (name: string): boolean =>
    name.length <= LONGEST_NAME && typeof headers[name] === 'string';
  if (lowerNames.length !== count || !lowerNames.every(isKeptAsIs)) return;
  const names = lowerNames.map((_, index) => raw[2 * index]!);
  // Numeric names would change the order.
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

/**
 * Returns V8's internalized copy of a property name: it keeps no block alive, and known names are the strings of the
 * engine's table.
 */
function internalized(name: string): string {
  return Object.keys({ [name]: true })[0]!;
}
