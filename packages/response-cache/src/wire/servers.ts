import { CacheError } from '../errors.ts';
import { addressOf, selectedBy, type ServerAddress } from './server-address.ts';

/** The servers of a client, as currently known to it. */
export interface Servers {
  readonly isCluster: boolean;
  /** Returns the names of those that take writes. */
  names(): readonly string[];
  /** Returns the name of the one that has `key`; undefined while that is not known. */
  nameOf(key: string): string | undefined;
  /** Returns undefined if the client has not reached the server either. */
  address(name: string): ServerAddress | undefined;
}

/** A Cluster of ioredis and iovalkey. */
interface IoredisCluster {
  /** The names of the servers of each slot, its master first. */
  readonly slots: readonly (readonly string[] | undefined)[];
  nodes(role: 'master'): { readonly options: { host?: string; port?: number } }[];
}

/** A client of one server. ioredis and iovalkey expose their socket, node-redis does not. */
interface ShownClient {
  readonly status?: unknown;
  readonly stream?: { readonly remoteAddress?: string; readonly remotePort?: number };
  readonly options?: { readonly sentinels?: unknown; readonly enableTLSForSentinelMode?: boolean };
}

interface NodeRedisMaster {
  readonly address: string;
  readonly client?: object;
}

interface NodeRedisCluster {
  readonly masters: readonly NodeRedisMaster[];
  readonly slots: readonly ({ readonly master: NodeRedisMaster } | undefined)[];
}

/** Names the connecting feature and the remedy, for error messages. */
export interface Connecting {
  readonly who: string;
  readonly otherwise: string;
}

/** @throws {CacheError} ERR_REDLINE_CACHE_OPTION: the client does not expose the address of its server. */
export function serversOf(client: object, { who, otherwise }: Connecting): Servers {
  if ('nodes' in client && 'slots' in client) return ofIoredisCluster(client as IoredisCluster);
  if ('masters' in client && 'slots' in client)
    return ofNodeRedisCluster(client as NodeRedisCluster);
  const kind = kindWithoutServer(client);
  if (kind !== undefined) {
    throw new CacheError(
      'ERR_REDLINE_CACHE_OPTION',
      `${who} connects to the Redis server of its client, and ${kind.got} does not say which that is: ${kind.advice}${otherwise}.`,
    );
  }
  return ofOneServer(client);
}

/** Names the kind of a client that is not one of a single server, and the remedy. */
function kindWithoutServer(client: object): { got: string; advice: string } | undefined {
  const { options } = client as { options?: object };
  if ('idleClients' in client)
    return {
      got: 'a pool',
      advice: 'give it a client of its own, createClient(options), or ',
    };
  if (options !== undefined) return undefined;
  return {
    got: 'getSentinelNode' in client ? 'a Sentinel of node-redis' : 'this one',
    advice: '',
  };
}

function ofIoredisCluster(client: IoredisCluster): Servers {
  return {
    isCluster: true,
    names: () => client.nodes('master').map(({ options }) => nameOf(options)),
    nameOf: (key) => client.slots[keySlot(key)]?.[0],
    address(name) {
      const node = client.nodes('master').find(({ options }) => nameOf(options) === name);
      return node && addressOf(node);
    },
  };
}

function nameOf({ host, port }: { host?: string; port?: number }): string {
  return `${host}:${port}`;
}

/**
 * Returns the server that the client is connected to, with a new name after each reconnect: under the same address, or after a
 * decision of Sentinels, that may be a different server. While the client is not connected, it is the last one.
 */
function ofOneServer(client: ShownClient): Servers {
  const { sentinels = null, enableTLSForSentinelMode } = client.options ?? {};
  const isBehindSentinels = sentinels !== null;
  let stream: ShownClient['stream'];
  let { database } = addressOf(client);
  let times = 0;
  const name = (): string | undefined => {
    const shown = client.status === 'ready' ? client.stream : undefined;
    const selected = selectedBy(client) ?? database;
    const isAnother = shown !== undefined && stream !== undefined && shown !== stream;
    if (isAnother || selected !== database) times += 1;
    stream = shown ?? stream;
    database = selected;
    return isBehindSentinels && stream === undefined ? undefined : String(times);
  };
  return {
    isCluster: false,
    names() {
      const known = name();
      return known === undefined ? [] : [known];
    },
    nameOf: name,
    address() {
      const own = addressOf(client);
      if (!isBehindSentinels) return own;
      const { remoteAddress: host, remotePort: port } = stream ?? {};
      if (host === undefined || port === undefined) return undefined;
      const tls = enableTLSForSentinelMode === true ? own.socket.tls : undefined;
      return { ...own, socket: { host, port, ...(tls && { tls }) } };
    },
  };
}

function ofNodeRedisCluster(client: NodeRedisCluster): Servers {
  return {
    isCluster: true,
    names: () => client.masters.map(({ address }) => address),
    nameOf: (key) => client.slots[keySlot(key)]?.master.address,
    address(name) {
      const own = client.masters.find(({ address }) => address === name)?.client;
      return own && addressOf(own);
    },
  };
}

/* CRC-16/XMODEM, as in the specification of Redis Cluster. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** Returns the slot of `key` in a Redis Cluster: that of its first `{tag}`, if it has one. */
export function keySlot(key: string): number {
  const open = key.indexOf('{');
  const close = open === -1 ? -1 : key.indexOf('}', open + 1);
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ table[(crc >> 8) ^ byte]!;
  return crc % 16_384;
}
