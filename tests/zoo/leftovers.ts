// Looks for whatever a command left: processes, ports that still listen, and files.
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accepts } from './visit.ts';
import type { Setting } from './setting.ts';

/** In the environment of whatever a command starts, so that it is found again. */
export const marker = 'ZOO_TRIAL';

/** A process that was told to end may need a moment. */
const graceMs = 3_000;

export async function leftovers(
  setting: Setting,
  trial: string,
  before: readonly string[],
): Promise<string[]> {
  const deadline = Date.now() + graceMs;
  let processes = processesOf(trial);
  while (processes.length > 0 && Date.now() < deadline) {
    await sleep(50);
    processes = processesOf(trial);
  }
  const left = processes.map(({ command }) => `process ${command}`);
  if (await accepts({ host: '127.0.0.1', port: setting.ports.app })) {
    left.push(`port ${setting.ports.app}`);
  }
  // Node's own cache, of apps that enable it.
  const own = ['node-compile-cache', ...(setting.app.leaves ?? [])].map((name) =>
    join('tmp', name),
  );
  const known = new Set([...before, ...own]);
  const files = filesOf(setting).filter((file) => !known.has(file));
  return [...left, ...files.map((file) => `file ${file}`)];
}

/** Ends what was found, by its id. */
export function endProcessesOf(trial: string): void {
  for (const { pid } of processesOf(trial)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}

/** Files of the temporary folder, and those of redline anywhere below the home and the app. */
export function filesOf({ temporary, home, place }: Setting): string[] {
  const own = [home, place.app].flatMap((folder) =>
    globSync('{*,*/*,.*/*}', { cwd: folder })
      .filter((name) => /redline/i.test(basename(name)) && !name.startsWith('node_modules'))
      .map((name) => join(basename(folder), name)),
  );
  const all = existsSync(temporary) ? readdirSync(temporary) : [];
  return [...all.map((name) => join('tmp', name)), ...own];
}

function processesOf(trial: string): { pid: number; command: string }[] {
  const own = namespaceOf(process.pid);
  const isAlone = own !== namespaceOf(1);
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const isMarked = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${marker}=${trial}`);
      if (!isMarked && !(isAlone && namespaceOf(pid) === own)) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // A process that ended and that nobody has waited for has no command.
      return command === '' ? [] : [{ pid, command: command.slice(0, 160) }];
    } catch {
      return [];
    }
  });
}

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}
