import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { findOnPath } from './find-on-path.ts';
import { extend } from './extend.ts';
import { anotherUser } from './run-as.ts';
import { missing, type Started } from './started.ts';

/** A PostgreSQL cluster; committed data survives `kill()` and `restart()`. */
export interface PostgresServer extends Daemon {
  /** e.g. `postgres://redline@127.0.0.1:40123/postgres` */
  readonly url: string;
}

const run = promisify(execFile);

/** An SSLRequest; every server responds with one letter. */
const sslRequest = '\0\0\0\x08\x04\xd2\x16\x2f';

export async function startPostgres(): Promise<Started<PostgresServer>> {
  const folder = programFolder();
  if (folder === undefined) return missing('PostgreSQL', 'postgresql');
  // PostgreSQL refuses to run as root.
  const user = anotherUser('postgres', 'nobody');
  const daemon = await startDaemon({
    name: 'postgres',
    ...(user === undefined ? {} : { user }),
    async prepare({ folder: place }) {
      const args = [
        '--auth',
        'trust',
        '--username',
        'redline',
        '--encoding',
        'UTF8',
        '--locale',
        'C',
      ];
      await run(join(folder, 'initdb'), [...args, '--no-sync', '--pgdata', join(place, 'data')], {
        cwd: place,
        ...user,
      });
    },
    command({ port, folder: place }) {
      const settings = { D: join(place, 'data'), k: place, h: '127.0.0.1', p: String(port) };
      const args = Object.entries(settings).flatMap(([key, value]) => [`-${key}`, value]);
      return [join(folder, 'postgres'), ...args];
    },
    isReady: async ({ port, folder: place }) =>
      (await answers(port, sslRequest, 'N')) && (await accepts(folder, port, place)),
    startTimeoutMs: 30_000,
  });
  const url = `postgres://redline@127.0.0.1:${daemon.port}/postgres`;
  return { server: extend(daemon, { url }) };
}

/** Checks further, because a server recovering from a crash responds but accepts no client. */
async function accepts(folder: string, port: number, cwd: string): Promise<boolean> {
  try {
    await run(join(folder, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)], { cwd });
    return true;
  } catch {
    return false;
  }
}

/** Finds the server's programs, which Debian installs outside PATH, by version. */
function programFolder(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, 'bin'))
    : [];
  const onPath = findOnPath('initdb');
  if (onPath !== undefined) folders.push(join(onPath, '..'));
  return folders.find((each) =>
    ['initdb', 'postgres', 'pg_isready'].every((name) => existsSync(join(each, name))),
  );
}
