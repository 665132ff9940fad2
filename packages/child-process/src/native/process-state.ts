import { Server } from 'node:net';
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
  // A child that is preempted before it leaves our descriptor table still holds the port that was closed a moment ago.
  guard(Server.prototype, 'listen', port);
  if (!isMainThread) return;
  for (const name of changes) guard(process, name, port);
}

function guard(owner: object, name: string, port: { flush(): void }): void {
  const state = owner as Record<string, Change | undefined>;
  const change = state[name];
  if (change === undefined) return;
  const guarded: Change = function (this: unknown, ...args) {
    port.flush();
    return change.apply(this, args);
  };
  Object.defineProperty(guarded, 'name', { value: name });
  Object.defineProperty(guarded, 'length', { value: change.length });
  state[name] = guarded;
}
