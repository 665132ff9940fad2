import { answers, startDaemon, type Daemon } from './daemon.ts';
import { extend } from './extend.ts';
import { findOnPath } from './find-on-path.ts';

/** A private Redis: empty, in memory, on loopback, removed by `stop()`. Its data is lost with `kill()`. */
export interface RedisServer extends Daemon {
  readonly url: string;
}

export interface RedisServerOptions {
  /** Overrides of its settings, in the terms of redis.conf, e.g. `{ appendonly: 'yes' }`. */
  settings?: Record<string, string>;
}

/** Returns undefined if neither redis-server nor valkey-server is on PATH. */
export async function startRedis(
  options: RedisServerOptions = {},
): Promise<RedisServer | undefined> {
  const program = findOnPath('redis-server', 'valkey-server');
  if (program === undefined) return undefined;
  const daemon = await startDaemon({
    name: 'redis',
    command({ port, folder }) {
      const settings = {
        port,
        bind: '127.0.0.1',
        dir: folder,
        save: '',
        appendonly: 'no',
        ...options.settings,
      };
      const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]);
      return [program, ...args];
    },
    isReady: ({ port }) => answers(port, 'PING\r\n', '+PONG'),
  });
  return extend(daemon, { url: `redis://127.0.0.1:${daemon.port}` });
}
