import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signalGroup } from '@redline/services';
import type { Recording } from './compare.ts';
import type { Program } from './program.ts';

/** Time for the start of a process and for each program, on a machine that is busy with other things. */
const START_MS = 20_000;
const PROGRAM_MS = 35_000;

/** Recordings by seed: none of a program whose process ended without one, `null` of one that time was too short for. */
export type Recordings = Map<number, Recording | null>;

/**
 * Runs programs on the module `engine`: one process for all of them, and one for each that runs alone.
 * @param loop `'busy'`: with an event loop that is mostly blocked, so that it gets events together
 */
export async function record(
  engine: string,
  programs: readonly Program[],
  folder: string,
  loop: 'idle' | 'busy' = 'idle',
): Promise<Recordings> {
  const together = programs.filter(({ isAlone }) => !isAlone);
  const groups = [together, ...programs.filter(({ isAlone }) => isAlone).map((one) => [one])];
  const found: Recordings = new Map();
  for (const group of groups.filter(({ length }) => length > 0)) {
    for (const [seed, recording] of await perform([engine, folder, loop], group)) {
      found.set(seed, recording);
    }
  }
  return found;
}

async function perform(
  options: readonly string[],
  programs: readonly Program[],
): Promise<Recordings> {
  // A process group of its own: by that it knows its children from those of others.
  const child = spawn(
    process.execPath,
    ['--no-warnings', join(import.meta.dirname, 'perform.ts'), ...options],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      timeout: START_MS + PROGRAM_MS * programs.length,
      killSignal: 'SIGKILL',
    },
  );
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(programs));
  const exited = once(child, 'exit');
  const output = await text(child.stdout);
  await exited;
  // What the programs have left behind.
  signalGroup(child, 'SIGKILL');
  return new Map(
    output
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [seed, recording] = JSON.parse(line) as [number, Recording?];
        return [seed, recording ?? null];
      }),
  );
}
