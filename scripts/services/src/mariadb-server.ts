import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startDaemon, type Daemon } from './daemon.ts';
import { extend } from './extend.ts';
import { findOnPath } from './find-on-path.ts';
import { anotherUser } from './run-as.ts';
import { missing, type Started } from './started.ts';

/** A MariaDB server; committed data survives `kill()` and `restart()`. */
export interface MariadbServer extends Daemon {
  /** e.g. `mysql://root@127.0.0.1:40123/redline` */
  readonly url: string;
}

const run = promisify(execFile);

export async function startMariadb(): Promise<Started<MariadbServer>> {
  const [server, install, client] = ['mariadbd', 'mariadb-install-db', 'mariadb'].map((name) =>
    findOnPath(name),
  );
  if (server === undefined || install === undefined || client === undefined) {
    return missing('MariaDB', 'mariadb-server');
  }
  // MariaDB refuses to run as root.
  const user = anotherUser('mysql', 'nobody');
  const daemon = await startDaemon({
    name: 'mariadb',
    ...(user === undefined ? {} : { user }),
    async prepare({ folder }) {
      const args = [
        '--no-defaults',
        `--datadir=${join(folder, 'data')}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ];
      await run(install, args, { cwd: folder, ...user });
    },
    command: ({ port, folder }) => [
      server,
      '--no-defaults',
      `--datadir=${join(folder, 'data')}`,
      `--socket=${join(folder, 'socket')}`,
      `--pid-file=${join(folder, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--innodb-buffer-pool-size=32M',
      '--skip-name-resolve',
    ],
    isReady: ({ folder }) => accepts(client, folder),
    startTimeoutMs: 60_000,
  });
  return { server: extend(daemon, { url: `mysql://root@127.0.0.1:${daemon.port}/redline` }) };
}

/** Connects, because the port opens before the server accepts connections. Creates the database of the URL. */
async function accepts(client: string, folder: string): Promise<boolean> {
  const args = ['--no-defaults', `--socket=${join(folder, 'socket')}`, '--user=root'];
  try {
    await run(client, [...args, '--execute=create database if not exists redline'], {
      cwd: folder,
    });
    return true;
  } catch {
    return false;
  }
}
