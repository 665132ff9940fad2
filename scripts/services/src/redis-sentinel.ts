import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { findOnPath } from './find-on-path.ts';
import { startRedis, type RedisServer } from './redis-server.ts';

/** A master, its replica, and a Sentinel that monitors the master: three private servers on loopback. */
export interface RedisSentinel {
  /** The Sentinel's name of the master. */
  readonly name: string;
  readonly sentinel: Daemon;
  stop(): Promise<void>;
}

const name = 'shop';

/** Returns undefined if neither redis-server nor valkey-server is on PATH. */
export async function startRedisSentinel(): Promise<RedisSentinel | undefined> {
  const program = findOnPath('redis-server', 'valkey-server');
  if (program === undefined) return undefined;
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((server) => server.stop()));
  };
  try {
    const master = (await startRedis()) as RedisServer;
    started.push(master);
    const settings = { replicaof: `127.0.0.1 ${master.port}`, 'repl-diskless-sync-delay': '0' };
    started.push((await startRedis({ settings })) as RedisServer);
    const sentinel = await startDaemon({
      name: 'redis-sentinel',
      async prepare({ port, folder }) {
        const lines = [
          `port ${port}`,
          'bind 127.0.0.1',
          `dir "${folder}"`,
          `sentinel monitor ${name} 127.0.0.1 ${master.port} 1`,
          `sentinel down-after-milliseconds ${name} 5000`,
          `sentinel failover-timeout ${name} 5000`,
        ];
        await writeFile(join(folder, 'sentinel.conf'), `${lines.join('\n')}\n`);
      },
      command: ({ folder }) => [program, join(folder, 'sentinel.conf'), '--sentinel'],
      isReady: ({ port }) => answers(port, 'PING\r\n', '+PONG'),
    });
    started.push(sentinel);
    return { name, sentinel, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
