import type { Explained } from '../result.ts';
import type { Database } from './database.ts';
import { comparedColumns, scanText } from './plan-words.ts';

// cspell:ignore reltuples attname attrelid indrelid attnum indkey

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Filter?: string;
  'Total Cost'?: number;
  Plans?: PlanNode[];
}

const name = 'redline_explained';

/**
 * Asks PostgreSQL for the plan that it uses whatever the values are. The statement does not run: EXPLAIN has no ANALYZE. The planner
 * may evaluate functions, so the time is limited and the transaction read-only.
 */
export async function explainPostgres(database: Database, text: string): Promise<Explained> {
  const { sql, values } = withParameters(text);
  await database.query('BEGIN READ ONLY');
  try {
    await database.query(
      "SET LOCAL plan_cache_mode = 'force_generic_plan'; SET LOCAL statement_timeout = '5s'",
    );
    return await describe(database, nodesOf(await planOf(database, sql, values)));
  } finally {
    await database.query('ROLLBACK');
  }
}

/** Leaves no prepared statement, which outlives its transaction: after it, a pooler may give another connection of the server. */
async function planOf(database: Database, sql: string, values: number): Promise<PlanNode> {
  await database.query(`SAVEPOINT ${name}`);
  try {
    await database.query(`PREPARE ${name} AS ${sql}`);
    const list = values === 0 ? '' : `(${Array.from({ length: values }, () => 'NULL').join(', ')})`;
    const [row] = await database.query(`EXPLAIN (FORMAT JSON) EXECUTE ${name}${list}`);
    const [{ Plan: plan }] = row!['QUERY PLAN'] as [{ Plan: PlanNode }];
    return plan;
  } finally {
    await database.query(`ROLLBACK TO SAVEPOINT ${name}`);
    // A statement that failed to prepare does not exist.
    await database.query(`DEALLOCATE ${name}`).catch(() => {});
  }
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

async function describe(database: Database, nodes: readonly PlanNode[]): Promise<Explained> {
  const scans = nodes.filter((node) => node['Node Type'].endsWith('Seq Scan'));
  const [scan] = scans.toSorted((a, b) => (b['Total Cost'] ?? 0) - (a['Total Cost'] ?? 0));
  const relation = scan?.['Relation Name'];
  if (scan === undefined || relation === undefined) {
    const found = nodes.find((node) => node['Index Name'] !== undefined);
    const text =
      found === undefined
        ? 'no table is scanned'
        : `${found['Node Type']} by ${found['Index Name']}`;
    return { text, isScan: false };
  }
  const [facts] = await database.query(
    `SELECT reltuples AS rows, ARRAY(
       SELECT attname::text FROM pg_index
       JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
       WHERE indrelid = pg_class.oid
     ) AS indexed FROM pg_class WHERE oid = to_regclass(quote_ident($1))`,
    [relation],
  );
  return {
    text: scanText('Seq Scan', {
      table: relation,
      columns: comparedColumns(scan.Filter ?? ''),
      indexed: (facts?.['indexed'] ?? []) as string[],
      rows: Number(facts?.['rows'] ?? -1),
    }),
    isScan: true,
  };
}

// cspell:ignore timestamptz timetz bytea
const types = String.raw`(?:timestamp|time)\s+with(?:out)?\s+time\s+zone|double\s+precision|timestamptz|timestamp|timetz|time|date|interval|uuid|jsonb?|inet|numeric|decimal|bigint|smallint|integer|int|boolean|bool|text|bytea`;

/** Names come first, as a `$` in them begins no parameter. */
const parts = new RegExp(
  String.raw`"(?:[^"]|"")*"|\b(?<type>${types})\s+(?<typed>\$\d+)|[\p{L}_][\p{L}\p{N}_$]*|[-+]\s*(?<signed>\$\d+)|\$(?<number>\d+)`,
  'giu',
);

/** Ends before a sign that belongs to one value, not to two operands. */
const beforeSign =
  /(?:[=<>!+*/%,(-]|\b(?:select|distinct|where|and|or|not|then|else|when|case|between|by|on|having|limit|offset|returning))\s*$/i;

/**
 * Makes a statement of a fingerprint: a parameter can stand for `5`, but neither for the string of `interval '5 days'`, nor have a sign
 * without a type. Each folded list has one parameter, after those of the fingerprint.
 * @returns the number of parameters, too
 */
export function withParameters(text: string): { sql: string; values: number } {
  let values = 0;
  const sql = text.replaceAll(parts, (part, ...more) => {
    const { type, typed, signed, number } = more.at(-1) as Record<string, string | undefined>;
    const parameter = typed ?? signed ?? (number === undefined ? undefined : part);
    if (parameter === undefined) return part;
    values = Math.max(values, Number(parameter.slice(1)));
    if (type !== undefined) return `${parameter}::${type}`;
    const [before, whole] = more.slice(-3) as [number, string];
    return signed !== undefined && beforeSign.test(whole.slice(0, before)) ? signed : part;
  });
  const lists = sql.replaceAll(/"(?:[^"]|"")*"|\(…\)/g, (part) =>
    part === '(…)' ? `($${++values})` : part,
  );
  return { sql: lists, values };
}
