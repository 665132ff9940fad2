import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from './entries.ts';

/** Copies an entry to its path in the board's repository; returns the folder. */
export function writeSubmission({ name, folder }: Entry, into: string): string {
  const target = join(into, 'frameworks', name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  cpSync(folder, target, { recursive: true });
  return target;
}
