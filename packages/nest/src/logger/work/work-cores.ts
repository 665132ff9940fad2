import type { LoggerCore } from '../logger-core.ts';

/* The cores of the apps of this process, by the container that Nest has for each. */
const byContainer = new Map<object, LoggerCore>();

export function registerCore(container: object, core: LoggerCore): void {
  byContainer.set(container, core);
}

export function unregisterCore(container: object): void {
  byContainer.delete(container);
}

/** Returns the core of the app that `creator`, which makes the handlers of messages, belongs to. */
export function coreOf(creator: object): LoggerCore | undefined {
  const { guardsContextCreator } = creator as { guardsContextCreator?: { container?: object } };
  const container = guardsContextCreator?.container;
  return container === undefined ? newestCore() : byContainer.get(container);
}

/** Returns the core for a class that several apps of the process may share. */
export function newestCore(): LoggerCore | undefined {
  return [...byContainer.values()].at(-1);
}

/** Returns the id of the current request, message or job; undefined outside of all. */
export function currentId(): string | undefined {
  for (const core of byContainer.values()) {
    const id = (core.work as { id?: unknown } | undefined)?.id;
    if (typeof id === 'string') return id;
  }
  return undefined;
}
