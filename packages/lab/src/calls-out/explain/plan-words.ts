import { about } from '../../report/format.ts';

export interface Scan {
  table: string;
  /** Columns that the statement compares. */
  columns: readonly string[];
  /** First columns of the indexes of the table. */
  indexed: readonly string[];
  /** Estimated number of rows; negative if it is not known. */
  rows: number;
}

/** Formats `Seq Scan on orders, no index on user_id`. */
export function scanText(kind: string, { table, columns, indexed, rows }: Scan): string {
  const size = rows > 0 ? `, about ${about(rows)} rows` : '';
  if (columns.length === 0) return `${kind} on ${table}${size}`;
  const known = columns.find((column) => indexed.includes(column));
  // A small table, or a condition that most rows meet.
  if (known !== undefined) return `${kind} on ${table}${size}, although ${known} has an index`;
  return `${kind} on ${table}, no index on ${columns.join(' or ')}`;
}

/**
 * Returns the columns that a condition compares with values, e.g. of `((user_id = $1) AND ((name)::text = $2))`. Without equality, an
 * index on a column with a range helps too.
 */
export function comparedColumns(condition: string): string[] {
  const equal = columnsBefore('=', condition);
  return equal.length > 0 ? equal : columnsBefore('[<>]=?', condition);
}

function columnsBefore(operator: string, condition: string): string[] {
  const pattern = new RegExp(
    `[\`"]?([A-Za-z_]\\w*)[\`"]?\\)?(?:::[\\w ]+(?:\\[\\])?)?\\s*(?:${operator})\\s`,
    'g',
  );
  return [...new Set([...condition.matchAll(pattern)].map(([, column]) => column!))];
}
