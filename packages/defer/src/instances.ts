import type { Deferrer } from './deferrer.ts';
import { DeferError } from './errors.ts';

const instances = new Set<Deferrer>();

export function registerInstance(deferrer: Deferrer): void {
  instances.add(deferrer);
  deferrer.onClosed(() => instances.delete(deferrer));
}

/** Returns the only deferrer, for calls outside a request. @throws {DeferError} ERR_REDLINE_DEFER_NO_INSTANCE */
export function onlyInstance(): Deferrer {
  const [first] = instances;
  if (first !== undefined && instances.size === 1) return first;
  throw new DeferError(
    'ERR_REDLINE_DEFER_NO_INSTANCE',
    instances.size === 0
      ? 'Nothing can be deferred: createDefer() was not called, or its deferrer is closed.'
      : `There are ${instances.size} deferrers, and no request to choose one by: call deferrer.defer() on one of them.`,
  );
}
