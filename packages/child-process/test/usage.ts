import { readdirSync, readFileSync } from 'node:fs';

/** Open descriptors of this process. */
export function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Children of this process that have ended and were not reaped. */
export function zombies(): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
          .split(') ')[1]!
          .split(' ');
        return state === 'Z' && Number(parent) === process.pid;
      } catch {
        return false;
      }
    }).length;
}

/**
 * Memory in use, in MiB, after what can be collected has been. The last resort makes V8 give back the free pages that
 * it keeps for a while after every other collection: a few megabytes more or less, and not ours.
 */
export function residentMiB(): number {
  const { gc } = globalThis as { gc?: (options: object) => void };
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return process.memoryUsage.rss() / 2 ** 20;
}
