import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { LabError } from '../errors.ts';
import { readOrEmpty } from '../system/cpu-clock.ts';

export interface RunningApp {
  command: string[];
  cwd: string;
  env: Record<string, string>;
}

/** State of a listening socket in /proc/net/tcp. */
const listening = '0A';

/**
 * Finds the command and environment of the process that listens on a port (Linux), to start a copy of it.
 * @throws {LabError} ERR_REDLINE_OPTION when no process of this user listens there
 */
export async function findListener(url: URL): Promise<RunningApp> {
  const port = Number(url.port || 80);
  const hint = `give the command that starts the app: redline stairs ${url.origin}/ -- node server.js`;
  if (process.platform !== 'linux') {
    throw new LabError('ERR_REDLINE_OPTION', `A running app can only be found on Linux; ${hint}`);
  }
  const inode = inodeOf(port, url.hostname === '[::1]' ? ['tcp6', 'tcp'] : ['tcp', 'tcp6']);
  if (inode === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `Nothing listens on port ${port}; start the app, or ${hint}`,
    );
  }
  const pid = ownerOf(inode);
  if (pid === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `The process that listens on port ${port} belongs to another user; ${hint}`,
    );
  }
  return {
    command: readOrEmpty(`/proc/${pid}/cmdline`).split('\0').slice(0, -1),
    cwd: readlinkSync(`/proc/${pid}/cwd`),
    env: parseEnvironment(readFileSync(`/proc/${pid}/environ`, 'utf8')),
  };
}

/** @param tables If both have an app on this port, the first counts. */
function inodeOf(port: number, tables: readonly string[]): string | undefined {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = tables.flatMap((table) => readOrEmpty(`/proc/net/${table}`).split('\n'));
  for (const line of lines) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(wanted) && fields[3] === listening) return fields[9];
  }
  return undefined;
}

function ownerOf(inode: string): number | undefined {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.find((pid) => {
    try {
      const folder = `/proc/${pid}/fd`;
      return readdirSync(folder).some(
        (fd) => readlinkSync(`${folder}/${fd}`) === `socket:[${inode}]`,
      );
    } catch {
      // The process has ended, or belongs to another user.
      return false;
    }
  });
}

function parseEnvironment(text: string): Record<string, string> {
  const pairs = text.split('\0').flatMap((line) => {
    const equals = line.indexOf('=');
    return equals < 1 ? [] : [[line.slice(0, equals), line.slice(equals + 1)] as const];
  });
  return Object.fromEntries(pairs);
}
