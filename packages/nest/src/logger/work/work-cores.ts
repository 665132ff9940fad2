import type { LoggerCore } from '../logger-core.ts';

/* Of the apps of this process, by the container that Nest has for each. */
const byContainer = new Map<object, LoggerCore>();

export function enter(container: object, core: LoggerCore): void {
  byContainer.set(container, core);
}

export function leave(container: object): void {
  byContainer.delete(container);
}

/** The core of the app that `creator`, which makes the handlers of messages, belongs to. */
export function coreOf(creator: object): LoggerCore | undefined {
  const { guardsContextCreator } = creator as { guardsContextCreator?: { container?: object } };
  const container = guardsContextCreator?.container;
  return container === undefined ? newest() : byContainer.get(container);
}

/** The core of a class that several apps of the process may share. */
export function newest(): LoggerCore | undefined {
  return [...byContainer.values()].at(-1);
}

/** The id of the request, the message or the job that is being worked on; undefined outside of all. */
export function currentId(): string | undefined {
  for (const core of byContainer.values()) {
    const id = (core.work as { id?: unknown } | undefined)?.id;
    if (typeof id === 'string') return id;
  }
  return undefined;
}
