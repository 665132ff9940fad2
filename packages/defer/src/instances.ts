import type { Deferrer } from './deferrer.ts';
import { DeferError } from './errors.ts';

const instances = new Set<Deferrer>();

export function registerInstance(deferrer: Deferrer): void {
  instances.add(deferrer);
  deferrer.onClosed(() => instances.delete(deferrer));
}

/** The one there is, for calls outside of a request. @throws {DeferError} ERR_REDLINE_DEFER_NO_INSTANCE */
export function onlyInstance(): Deferrer {
  const [first] = instances;
  if (first !== undefined && instances.size === 1) return first;
  throw new DeferError(
    'ERR_REDLINE_DEFER_NO_INSTANCE',
    instances.size === 0
      ? 'Nothing can be deferred yet: createDefer() was not called, or what it returned is closed.'
      : `There are ${instances.size} deferrers, and no request says which one is meant: call deferrer.defer().`,
  );
}
