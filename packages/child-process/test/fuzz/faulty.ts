// node:child_process with a fault: what a child prints never ends.
import { spawn as spawnWell, type ChildProcess } from 'node:child_process';

export function spawn(...given: Parameters<typeof spawnWell>): ChildProcess {
  const child = spawnWell(...given);
  const { stdout } = child;
  if (stdout !== null) {
    const emit = stdout.emit.bind(stdout);
    stdout.emit = (event: string, ...args: unknown[]) => event !== 'end' && emit(event, ...args);
  }
  return child;
}
