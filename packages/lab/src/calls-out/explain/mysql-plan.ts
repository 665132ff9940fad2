import type { Explained } from '../result.ts';
import type { Database } from './database.ts';
import { comparedColumns, scanText } from './plan-words.ts';

interface PlannedTable {
  table_name: string;
  access_type?: string;
  key?: string;
  /** MariaDB, and MySQL. */
  rows?: number;
  rows_examined_per_scan?: number;
  attached_condition?: string;
}

/** Limits of MySQL in ms, and of MariaDB in s: each system has one of them. */
const timeLimits = ['max_execution_time = 5000', 'max_statement_time = 5'];

/**
 * Asks MySQL or MariaDB for the plan of a statement, with `'1'` for each of its values: these systems plan for values. The statement
 * does not run, although its planning may run a subquery without a table; the time is limited and the transaction read-only.
 */
export async function explainMysql(database: Database, text: string): Promise<Explained> {
  for (const limit of timeLimits) await database.query(`SET SESSION ${limit}`).catch(() => {});
  await database.query('START TRANSACTION READ ONLY');
  try {
    const [row] = await database.query(`EXPLAIN FORMAT=JSON ${withValues(text)}`);
    const tables = tablesIn(JSON.parse(String(row!['EXPLAIN'])));
    const scan = tables
      .filter((table) => table.access_type === 'ALL' && !table.table_name.startsWith('<'))
      .toSorted((a, b) => rowsOf(b) - rowsOf(a))[0];
    if (scan === undefined) {
      const key = tables.find((table) => table.key !== undefined)?.key;
      return {
        text: key === undefined ? 'no table is scanned' : `by the index ${key}`,
        isScan: false,
      };
    }
    const table = tableNamed(scan.table_name, text);
    const indexed = await database.query(
      'SELECT column_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ? AND seq_in_index = 1',
      [table],
    );
    const rows = rowsOf(scan);
    const columns = comparedColumns(scan.attached_condition ?? '');
    const names = indexed.map(({ name }) => String(name));
    return { text: scanText('full scan', { table, columns, indexed: names, rows }), isScan: true };
  } finally {
    await database.query('ROLLBACK');
  }
}

/** Parts that need a value. Names come first, as they may have a question mark. */
const valued =
  /`(?:[^`]|``)*`|\(…\)|\b(?<limit>limit|offset)\s+\?(?<more>\s*,\s*\?)?|\b(?<type>date|timestamp|time)\s+\?|\?/gi;

const valuesOfTypes: Record<string, string> = {
  date: "date '2020-01-01'",
  time: "time '00:00:00'",
  timestamp: "timestamp '2020-01-01 00:00:00'",
};

/** Strings compare with columns of every type by their index. A limit takes only a number. */
function withValues(text: string): string {
  return text.replaceAll(valued, (part, ...rest) => {
    const { limit, more, type } = rest.at(-1) as Record<string, string | undefined>;
    if (limit !== undefined) return `${limit} 10${more === undefined ? '' : ', 10'}`;
    if (type !== undefined) return valuesOfTypes[type.toLowerCase()]!;
    if (part === '(…)') return "('1', '2')";
    return part === '?' ? "'1'" : part;
  });
}

function tablesIn(plan: unknown): PlannedTable[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const own = 'table_name' in plan ? [plan as PlannedTable] : [];
  return [...own, ...Object.values(plan).flatMap(tablesIn)];
}

function rowsOf({ rows, rows_examined_per_scan: examined }: PlannedTable): number {
  return rows ?? examined ?? -1;
}

/** The plan has the name that a statement gives a table. */
function tableNamed(alias: string, text: string): string {
  const named = new RegExp(
    `\\b(?:from|join)\\s+\`?(\\w+)\`?\\s+(?:as\\s+)?\`?${alias}\`?(?!\\w)`,
    'i',
  );
  return named.exec(text)?.[1] ?? alias;
}
