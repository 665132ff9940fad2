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

/** Ways to end that run no exit handler: with the thread that starts them, queued children would be gone. */
const ends = ['abort', 'execve'] as const;

interface Flushing {
  flush(): void;
  flushAll(): void;
}

/**
 * Makes the calls that change what a child inherits wait for children that were asked for before, and those that end the process
 * for the children of all threads. A worker can only make the last of them, a signal.
 */
export function guardProcessState(port: Flushing): void {
  const flush = (): void => port.flush();
  const flushAll = (): void => port.flushAll();
  // A child that is preempted before it leaves our descriptor table still holds the port that was closed a moment ago.
  guard(Server.prototype, 'listen', flush);
  // What `process.kill` calls, also one that was taken before.
  guard(process, '_kill', (pid, signal) => {
    if (signal !== 0 && endsUs(pid as number)) port.flushAll();
  });
  if (!isMainThread) return;
  for (const name of changes) guard(process, name, flush);
  for (const name of ends) guard(process, name, flushAll);
}

/** Whether a signal to `pid` may be one to this process: its own number, or that of a group. */
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
