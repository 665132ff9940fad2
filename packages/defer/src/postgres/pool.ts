export interface PostgresResult {
  rows: unknown[];
  rowCount: number | null;
  /** The server's command tag: `COMMIT` or, in response to a commit, `ROLLBACK`. */
  command?: string;
}

/** The part of a `pg` client that is used: a transaction's, or a pool's. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<PostgresResult>;
}

/** A `pg` pool: each query borrows a connection and returns it. */
export type PostgresPool = PostgresClient;
