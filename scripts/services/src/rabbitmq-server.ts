import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { findOnPath } from './find-on-path.ts';
import { extend } from './extend.ts';
import { missing, type Started } from './started.ts';

/** A RabbitMQ node; durable queues survive `kill()` and `restart()`. */
export interface RabbitServer extends Daemon {
  /** e.g. `amqp://guest:guest@127.0.0.1:40123` */
  readonly url: string;
}

/** The launcher on PATH switches to the system's own node and user. */
const launcher = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export async function startRabbit(): Promise<Started<RabbitServer>> {
  const epmd = findOnPath('epmd');
  const program = existsSync(launcher) ? launcher : findOnPath('rabbitmq-server');
  if (program === undefined || epmd === undefined) {
    return missing('rabbitmq-server', 'rabbitmq-server');
  }
  // A node registers with a port mapper, and would otherwise start one that outlives it.
  const mapper = await startDaemon({
    name: 'epmd',
    command: ({ port }) => [epmd, '-port', String(port), '-address', '127.0.0.1'],
  });
  try {
    const daemon = await startDaemon({
      name: 'rabbitmq',
      extraPorts: 1,
      command: () => [program],
      env: ({ port, extraPorts, folder }) => ({
        HOME: folder,
        ERL_EPMD_PORT: String(mapper.port),
        ERL_EPMD_ADDRESS: '127.0.0.1',
        RABBITMQ_NODENAME: `redline${port}@localhost`,
        RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
        RABBITMQ_NODE_PORT: String(port),
        RABBITMQ_DIST_PORT: String(extraPorts[0]),
        RABBITMQ_MNESIA_BASE: join(folder, 'data'),
        RABBITMQ_LOG_BASE: join(folder, 'log'),
        RABBITMQ_PID_FILE: join(folder, 'pid'),
        RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
        RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
        RABBITMQ_CONF_ENV_FILE: join(folder, 'none'),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
      }),
      async prepare({ folder }) {
        // A limit low enough for tests.
        const settings = ['loopback_users.guest = true', 'max_message_size = 2097152', ''];
        await writeFile(join(folder, 'rabbitmq.conf'), settings.join('\n'));
        await writeFile(join(folder, 'enabled_plugins'), '[].\n');
      },
      // The port opens before the node accepts connections: only a response to the protocol header proves that it does.
      isReady: ({ port }) => answers(port, 'AMQP\0\0\x09\x01', '\x01'),
      startTimeoutMs: 60_000,
    });
    const stop = async (): Promise<void> => {
      await daemon.stop();
      await mapper.stop();
    };
    return {
      server: extend(daemon, { url: `amqp://guest:guest@127.0.0.1:${daemon.port}`, stop }),
    };
  } catch (error) {
    await mapper.stop();
    throw error;
  }
}
