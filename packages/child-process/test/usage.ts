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

/** Memory in use, in MiB, after what can be collected has been. */
export function residentMiB(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return process.memoryUsage.rss() / 2 ** 20;
}
