import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from './free-port.ts';
import { startRedis, type RedisServer } from './redis-server.ts';
import { until } from './until.ts';

/** Three masters with one replica each: six private servers on loopback. */
export interface RedisCluster {
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly servers: readonly RedisServer[];
  /** Returns the server on `port`. */
  at(port: number): RedisServer;
  /** Returns the raw reply of the server on `port` to one line. */
  ask(port: number, command: string): Promise<string>;
  stop(): Promise<void>;
}

const masterCount = 3;
const slotCount = 16_384;

/** Returns undefined without redis-server 7 or newer, or valkey-server. */
export async function startRedisCluster(): Promise<RedisCluster | undefined> {
  const servers: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    for (let i = 0; i < 2 * masterCount; i++) {
      const server = await startRedis({
        settings: {
          'cluster-enabled': 'yes',
          'cluster-port': String(await freePort()),
          'cluster-node-timeout': '2000',
          'cluster-replica-validity-factor': '0',
          'cluster-allow-replica-migration': 'no',
          'repl-diskless-sync-delay': '0',
        },
      });
      if (server === undefined) return undefined;
      servers.push(server);
    }
    await join(servers.map(({ port }) => port));
  } catch (error) {
    await stop();
    // Older versions do not support `cluster-port`.
    if (String(error).includes('Bad directive')) return undefined;
    throw error;
  }
  return {
    servers,
    nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    at: (port) => servers.find((server) => server.port === port)!,
    ask,
    stop,
  };
}

async function join(ports: readonly number[]): Promise<void> {
  const [first, ...others] = ports as [number, ...number[]];
  for (const [index, port] of ports.entries()) {
    await ask(port, `CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    if (index >= masterCount) continue;
    const start = Math.ceil((index * slotCount) / masterCount);
    const end = Math.ceil(((index + 1) * slotCount) / masterCount) - 1;
    await ask(port, `CLUSTER ADDSLOTSRANGE ${start} ${end}`);
  }
  for (const port of others) {
    const busPort = (await ask(port, 'CONFIG GET cluster-port')).trim().split(/\s+/).at(-1)!;
    await ask(first, `CLUSTER MEET 127.0.0.1 ${port} ${busPort}`);
  }
  await until('the nodes of the cluster know each other', async () => {
    const infos = await Promise.all(ports.map((port) => ask(port, 'CLUSTER INFO')));
    return infos.every((info) => info.includes(`cluster_known_nodes:${ports.length}`));
  });
  for (const [index, port] of ports.slice(masterCount).entries()) {
    const id = (await ask(ports[index]!, 'CLUSTER MYID')).trim().split(/\s+/).at(-1)!;
    await until('a replica knows its master', async () =>
      (await ask(port, `CLUSTER REPLICATE ${id}`)).startsWith('+OK'),
    );
  }
  await until('the cluster is complete', async () => {
    const infos = await Promise.all(ports.map((port) => ask(port, 'CLUSTER INFO')));
    const replicas = ports.slice(masterCount);
    const links = await Promise.all(replicas.map((port) => ask(port, 'INFO replication')));
    return (
      infos.every((info) => info.includes('cluster_state:ok')) &&
      links.every((info) => info.includes('master_link_status:up'))
    );
  });
}

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.end(`${command}\r\nQUIT\r\n`);
  await once(socket, 'close');
  return text.replace(/\+OK\r\n$/, '');
}
