import { isMainThread } from 'node:worker_threads';

type Change = (...args: unknown[]) => unknown;

const changes = [
  'chdir',
  'umask',
  'setuid',
  'seteuid',
  'setgid',
  'setegid',
  'setgroups',
  'initgroups',
] as const;

/**
 * Makes the calls that change what a child inherits wait for children that were asked for before. A worker cannot make
 * them at all.
 */
export function guardProcessState(port: { flush(): void }): void {
  if (!isMainThread) return;
  const state = process as unknown as Record<string, Change | undefined>;
  for (const name of changes) {
    const change = state[name];
    if (change === undefined) continue;
    const guarded: Change = function (this: unknown, ...args) {
      port.flush();
      return change.apply(this, args);
    };
    Object.defineProperty(guarded, 'name', { value: name });
    Object.defineProperty(guarded, 'length', { value: change.length });
    state[name] = guarded;
  }
}
