import { systemError } from '../errors.ts';
import { native } from '../native/engine.ts';

/**
 * Reaps, from now on, the processes that lose their parent and are given to this one, because it is the first of its container (PID 1)
 * or a subreaper. Without that they stay as zombies. The status of a child that somebody here waits for stays: one that Node, libuv,
 * the engine or another addon has started.
 *
 * @returns whether orphans come to this process and the native engine, which does it, serves
 */
export function reapOrphans(): boolean {
  const result = native?.addon.reapOrphans() ?? 0;
  if (result < 0) throw systemError(result, 'reapOrphans');
  return result === 1;
}
