import { systemError } from '../errors.ts';
import { native } from '../native/engine.ts';

/**
 * Starts to reap orphans, which the kernel gives to this process if it is the first of its container (PID 1) or a subreaper.
 * Otherwise they stay as zombies. The status of a child with a waiter in this process is left alone: one started by Node,
 * libuv, the engine or another addon.
 *
 * @returns true if this process gets orphans and the native engine, which reaps them, is available
 */
export function reapOrphans(): boolean {
  const result = native?.addon.reapOrphans() ?? 0;
  if (result < 0) throw systemError(result, 'reapOrphans');
  return result === 1;
}
