// cspell:ignore reltuples attname attrelid indrelid attnum indkey
import type { Explained } from '../result.ts';
import type { Database } from './database.ts';
import { comparedColumns, scanText } from './plan-words.ts';
import { withParameters } from './postgres-parameters.ts';

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
