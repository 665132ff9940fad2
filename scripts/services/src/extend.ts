import type { Daemon } from './daemon.ts';

/** Returns the daemon extended by `facts`. Its `pid` is a getter, which a spread would freeze. */
export function extend<T extends object>(daemon: Daemon, facts: T): Daemon & T {
  return Object.assign(Object.create(daemon), facts) as Daemon & T;
}
