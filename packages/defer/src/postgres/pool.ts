import { DeferError } from '../errors.ts';

export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
  /** The server's tag: `COMMIT` or, for a commit, `ROLLBACK`. */
  command?: string;
}

/** The part of a `pg` client that is used: a transaction's, or a pool's. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** A `pg` pool: each query takes a connection of it and gives it back. */
export type PostgresPool = PostgresClient;

/** Name and schema, quoted. @throws {DeferError} ERR_REDLINE_DEFER_OPTION for what can be neither */
export function quoteTable(table: string): string {
  const parts = table.split('.');
  if (parts.length > 2 || parts.some((part) => part === '' || part.includes('\0'))) {
    throw new DeferError(
      'ERR_REDLINE_DEFER_OPTION',
      `table is ${JSON.stringify(table)}: it must be a name, or a schema and a name with a dot between them.`,
    );
  }
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
}
