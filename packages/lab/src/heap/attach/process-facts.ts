import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { LabError } from '../../errors.ts';
import { readOrEmpty } from '../../system/cpu-clock.ts';

/** Returns the working folder of a process; redline's own if the system does not show it. */
export function folderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return process.cwd();
  }
}

/** SIGUSR1, number 10, in the masks of /proc, which begin with signal 1 at bit 0. */
const userSignal = 1n << 9n;

/**
 * Checks that the process is Node, which opens its inspector on SIGUSR1: the signal ends most other programs.
 * @throws {LabError} ERR_REDLINE_OPTION when the process is not Node, or does not handle the signal
 */
export function requireNode(pid: number): void {
  if (process.platform !== 'linux') {
    throw wrong('--pid works on Linux only; let redline start the app: -- node server.js');
  }
  let program: string;
  try {
    program = readlinkSync(`/proc/${pid}/exe`);
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw wrong(
      isGone ? `Process ${pid} does not exist.` : `Process ${pid} belongs to another user.`,
    );
  }
  if (!basename(program).startsWith('node')) throw wrong(`Process ${pid} is ${program}, not Node.`);
  const caught = /^SigCgt:\s*([\da-f]+)/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1];
  if (caught === undefined || (BigInt(`0x${caught}`) & userSignal) === 0n) {
    throw wrong(
      `Process ${pid} does not handle SIGUSR1, which opens the inspector: start it with --inspect.`,
    );
  }
}

/** Returns the TCP ports that the process listens on, at any address. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(socketsOf(pid));
  const lines = ['tcp', 'tcp6'].flatMap((table) =>
    readOrEmpty(`/proc/net/${table}`).split('\n').slice(1),
  );
  return lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const port = Number.parseInt(fields[1]?.split(':')[1] ?? '', 16);
    return fields[3] === '0A' && inodes.has(fields[9] ?? '') ? [port] : [];
  });
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((descriptor) => {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`${folder}/${descriptor}`))?.[1];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return [];
  }
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
