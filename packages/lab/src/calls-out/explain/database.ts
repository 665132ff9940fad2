import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { databaseWithoutLogin, maskSecrets } from '../../secrets.ts';
import { LabError } from '../../errors.ts';

export type Row = Record<string, unknown>;

/** One connection to the database of an app. */
export interface Database {
  system: 'PostgreSQL' | 'MySQL';
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  end(): Promise<void>;
}

interface PgClient {
  connect(): Promise<void>;
  query(sql: string, values?: readonly unknown[]): Promise<{ rows: Row[] }>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): void;
}

interface MysqlConnection {
  query(sql: string, values?: readonly unknown[]): Promise<[Row[]]>;
  end(): Promise<void>;
}

const connectMs = 5_000;

/**
 * Connects with the driver that the app has installed.
 * @param folder Folder of the app.
 * @throws {LabError} ERR_REDLINE_OPTION
 */
export async function openDatabase(url: string, folder: string): Promise<Database> {
  const named = databaseWithoutLogin(url);
  if (named === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      '--database: the value is not a URL. Give postgres://… or mysql://…, with %40, %2F, %3F and %23 for @, /, ? and # in user or password.',
    );
  }
  const [scheme] = named.split('://', 1);
  try {
    if (/^postgres(ql)?$/.test(scheme!)) return await openPostgres(url, folder);
    if (/^(mysql|mariadb)$/.test(scheme!)) return await openMysql(url, folder);
  } catch (cause) {
    if (cause instanceof LabError) throw cause;
    const message = maskSecrets((cause as Error).message.replaceAll(url, named));
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--database ${named}: no connection (${message}). Is the database running, and are user and password right?`,
      { cause },
    );
  }
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `--database takes postgres://… or mysql://…, not ${scheme}://….`,
  );
}

async function openPostgres(url: string, folder: string): Promise<Database> {
  const { Client } = load<{ Client: new (options: object) => PgClient }>('pg', folder);
  const client = new Client({ connectionString: url, connectionTimeoutMillis: connectMs });
  // A connection that ends later rejects the next query.
  client.on('error', () => {});
  await client.connect();
  return {
    system: 'PostgreSQL',
    query: async (sql, values) => (await client.query(sql, values)).rows,
    end: () => client.end(),
  };
}

async function openMysql(url: string, folder: string): Promise<Database> {
  const { createConnection } = load<{
    createConnection(options: object): Promise<MysqlConnection>;
  }>('mysql2/promise', folder);
  const connection = await createConnection({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    connectTimeout: connectMs,
  });
  return {
    system: 'MySQL',
    query: async (sql, values) => (await connection.query(sql, values))[0],
    end: () => connection.end(),
  };
}

/** Loads a driver as the app would, or from beside redline. */
function load<Driver>(name: string, folder: string): Driver {
  const from = [pathToFileURL(join(folder, 'package.json')).href, import.meta.url];
  for (const each of from) {
    const require = createRequire(each);
    try {
      require.resolve(name);
    } catch {
      continue;
    }
    return require(name) as Driver;
  }
  const [installed] = name.split('/', 1);
  throw new LabError(
    'ERR_REDLINE_OPTION',
    `--database needs ${installed}, which is not installed in ${folder}: npm install --save-dev ${installed}`,
  );
}
