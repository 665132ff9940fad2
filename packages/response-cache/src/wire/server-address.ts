import type { ConnectionOptions } from 'node:tls';

/** The address and the credentials of a Redis server. */
export interface ServerAddress {
  readonly socket: {
    readonly host?: string;
    readonly port: number;
    readonly path?: string;
    readonly tls?: ConnectionOptions;
  };
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
}

interface IoredisOptions {
  host?: string;
  port?: number;
  path?: string;
  username?: string | null;
  password?: string | null;
  db?: number;
  tls?: ConnectionOptions | false;
}

interface NodeRedisOptions {
  url?: string;
  socket?: { host?: string; port?: number; path?: string; tls?: boolean } & ConnectionOptions;
  username?: string;
  password?: string;
  database?: number;
}

/** Returns the server that a client of ioredis, iovalkey or node-redis is connected to, from its options. */
export function addressOf(client: object): ServerAddress {
  const { options = {}, status } = client as { options?: object; status?: unknown };
  if (typeof status !== 'string') return ofNodeRedis(options);
  const address = ofIoredis(options);
  return { ...address, database: selectedBy(client) ?? address.database };
}

/** Returns the database that a client of ioredis or iovalkey has selected since; node-redis does not expose it. */
export function selectedBy(client: object): number | undefined {
  return (client as { condition?: { select?: number } | null }).condition?.select;
}

function ofIoredis({
  host,
  port,
  path,
  username,
  password,
  db,
  tls,
}: IoredisOptions): ServerAddress {
  const address = { host: host ?? '127.0.0.1', port: port ?? 6379 };
  return {
    socket: { ...address, ...(path == null ? {} : { path }), ...(tls ? { tls } : {}) },
    username: username || undefined,
    password: password || undefined,
    database: db ?? 0,
  };
}

function ofNodeRedis(options: NodeRedisOptions): ServerAddress {
  const { host = '127.0.0.1', port = 6379, path, tls, ...rest } = options.socket ?? {};
  const url = options.url === undefined ? undefined : new URL(options.url);
  const isTls = tls === true || url?.protocol === 'rediss:';
  return {
    socket: {
      host: url?.hostname || host,
      port: Number(url?.port || port),
      ...(path === undefined ? {} : { path }),
      ...(isTls ? { tls: rest } : {}),
    },
    username: options.username || decode(url?.username),
    password: options.password || decode(url?.password),
    database: options.database ?? Number(url?.pathname.slice(1) || 0),
  };
}

function decode(part: string | undefined): string | undefined {
  return part === undefined || part === '' ? undefined : decodeURIComponent(part);
}
