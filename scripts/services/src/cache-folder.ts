import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns the folder of what was downloaded or built once. */
export function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return join(base, 'redline');
}
