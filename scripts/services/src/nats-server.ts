import { join } from 'node:path';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { findOnPath } from './find-on-path.ts';
import { extend } from './extend.ts';
import { missing, type Started } from './started.ts';

/** A NATS server with JetStream, which stores its streams on disk. */
export interface NatsServer extends Daemon {
  /** e.g. `127.0.0.1:40123` */
  readonly address: string;
}

export async function startNats(): Promise<Started<NatsServer>> {
  const program = findOnPath('nats-server');
  if (program === undefined) return missing('nats-server', 'nats-server');
  const daemon = await startDaemon({
    name: 'nats',
    command({ port, folder }) {
      const listen = ['--addr', '127.0.0.1', '--port', String(port)];
      return [program, ...listen, '--jetstream', '--store_dir', join(folder, 'jetstream')];
    },
    isReady: ({ port }) => answers(port, undefined, 'INFO'),
  });
  return { server: extend(daemon, { address: `127.0.0.1:${daemon.port}` }) };
}
