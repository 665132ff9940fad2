// Spans of any agent as trees that can be compared: without times and ids, and with the names of servers for their ports.

type Fields = Record<string, unknown>;

/** A span with those below it. */
export interface Tree {
  readonly span: unknown;
  readonly children: Tree[];
}

/** Times, ids, what an agent says of the machine, and how many connections were open meanwhile. */
const DROPPED: ReadonlySet<string> = new Set([
  'agent_keep',
  'duration',
  'end_timestamp',
  'event_id',
  'id',
  'nr_exclusive_duration_millis',
  'parent',
  'parent_id',
  'parent_span_id',
  'pid',
  'process_id',
  'runtime-id',
  'sample_rand',
  'span_id',
  'spans',
  'start',
  'start_timestamp',
  'timestamp',
  'trace_id',
  'transaction_id',
  '_dd.p.tid',
  'sequence',
]);
const PORTS = /(?:peer|client|source|local|host|remote)[._]?port$/i;

/** @param ports The names of servers by their ports. */
export function treesOf(spans: readonly Fields[], ports: ReadonlyMap<string, string>): Tree[] {
  const flat = spans.flatMap(flatten);
  const byId = new Map<unknown, Tree>();
  const trees = flat.map((fields) => {
    const tree: Tree = { span: plain(fields, ports, ''), children: [] };
    const { id } = link(fields);
    if (id !== undefined) byId.set(id, tree);
    return tree;
  });
  const roots: Tree[] = [];
  for (const [at, tree] of trees.entries()) {
    const { parent } = link(flat[at]!);
    const above = parent === undefined ? undefined : byId.get(parent);
    if (above === undefined || above === tree) roots.push(tree);
    else above.children.push(tree);
  }
  return sorted(roots);
}

/** Elastic sends `{ transaction }`, `{ span }` and others; a transaction of Sentry has its spans in it. */
function flatten(fields: Fields): Fields[] {
  const { metadata, metricset, spans } = fields;
  if (metadata !== undefined || metricset !== undefined) return [];
  for (const kind of ['transaction', 'span', 'error']) {
    const { [kind]: inner } = fields;
    if (typeof inner === 'object' && inner !== null && Object.keys(fields).length === 1) {
      return [{ kind, ...inner }];
    }
  }
  return [fields, ...(Array.isArray(spans) ? (spans as Fields[]) : [])];
}

function link(fields: Fields): { id: unknown; parent: unknown } {
  const { trace } = (fields['contexts'] ?? {}) as { trace?: Fields };
  const from = trace ?? fields;
  // Elastic's errors have ids, and are parents of nothing.
  const id = from['span_id'] ?? from['id'];
  const parent = from['parent_span_id'] ?? from['parent_id'] ?? from['parent'];
  return { id, parent: parent === 0 ? undefined : parent };
}

function plain(value: unknown, ports: ReadonlyMap<string, string>, key: string): unknown {
  if (typeof value === 'number' || typeof value === 'string') {
    const name = ports.get(String(value));
    if (name !== undefined) return `port of ${name}`;
    if (PORTS.test(key)) return 'a port';
  }
  if (typeof value === 'string') return text(value, ports, key);
  if (Array.isArray(value)) {
    const isStack = key === 'frames' || key === 'stacktrace';
    const list = isStack
      ? value.filter((frame) => /frameworks\.cjs/.test(JSON.stringify(frame)))
      : value;
    return list.map((each) => plain(each, ports, ''));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value)
    .filter(([name]) => !DROPPED.has(name))
    .map(([name, inner]) => [name, plain(inner, ports, name)] as const);
  return Object.fromEntries(fields.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function text(value: string, ports: ReadonlyMap<string, string>, key: string): string {
  // Its first line is the error, and frames below the app are of what serves.
  const first = /stack/i.test(key) ? value.split('\n', 1)[0]! : value;
  return first
    .replaceAll(/\b(\d{4,5})\b/g, (digits) => ports.get(digits) ?? digits)
    .replaceAll(/(sample_rand=)[\d.]+/g, '$1a number')
    .replaceAll(/\b[0-9a-f]{16,32}\b/g, 'an id')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
    .replaceAll(/Date: [^\r]*|\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT/g, 'a date');
}

function sorted(trees: readonly Tree[]): Tree[] {
  return trees
    .map((tree) => {
      const children = sorted(tree.children);
      return { key: JSON.stringify([tree.span, children]), tree: { span: tree.span, children } };
    })
    .toSorted((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ tree }) => tree);
}
