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

/** Calls that end the process without exit handlers: queued children would be lost with the thread that starts them. */
const ends = ['abort', 'execve'] as const;

interface Flushing {
  flush(): void;
  flushAll(): void;
}

/**
 * Makes calls that change inherited state wait for children requested earlier, and calls that end the process wait for the
 * children of all threads. A worker can only end the process, by a signal.
 */
export function guardProcessState(port: Flushing): void {
  const flush = (): void => port.flush();
  const flushAll = (): void => port.flushAll();
  // A child preempted before it leaves our descriptor table still holds a port that was just closed.
  guard(Server.prototype, 'listen', flush);
  // Called by `process.kill`, including a reference saved earlier.
  guard(process, '_kill', (pid, signal) => {
    if (signal !== 0 && endsUs(pid as number)) port.flushAll();
  });
  if (!isMainThread) return;
  for (const name of changes) guard(process, name, flush);
  for (const name of ends) guard(process, name, flushAll);
}

/** Returns true if a signal to `pid` may reach this process: its own id, or that of a group. */
function endsUs(pid: number): boolean {
  return pid <= 0 || pid === process.pid;
}

function guard(owner: object, name: string, before: Change): void {
  const state = owner as Record<string, Change | undefined>;
  const change = state[name];
  if (change === undefined) return;
  const guarded: Change = function (this: unknown, ...args) {
    before(...args);
    return change.apply(this, args);
  };
  Object.defineProperty(guarded, 'name', { value: name });
  Object.defineProperty(guarded, 'length', { value: change.length });
  state[name] = guarded;
}
