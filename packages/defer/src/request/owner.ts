import { type DeferError, optionError } from '../errors.ts';
import { OwnWork } from '../job/own-work.ts';
import { scopeNamedBy } from './own-events.ts';
import { scopes, type Scope, type ScopeDeferrer } from './scope.ts';

/** The request that a job belongs to, as far as it is known. */
export interface Owner {
  readonly scope: Scope | undefined;
  /** The request whose trace the job continues. */
  readonly origin: Scope | undefined;
  /** True if the caller named it, or it is known to be none: the context of the call does not count. */
  readonly isCertain: boolean;
}

export const noRequest: Owner = { scope: undefined, origin: undefined, isCertain: true };

/** @throws {DeferError} ERR_REDLINE_DEFER_OPTION */
export function ownerOf(deferrer: ScopeDeferrer, named: object | null | undefined): Owner {
  if (named === null) return noRequest;
  if (named !== undefined) {
    const scope = within(deferrer, scopeNamedBy(named));
    if (scope === undefined) throw unknownRequest();
    return { scope, origin: scope, isCertain: true };
  }
  const scope = within(deferrer, scopes.getStore());
  // The context of a handler is that of the request that deferred its job; the next job is the handler's own.
  const isOwnWork = (scope === undefined || !scope.isAtWork) && OwnWork.isRunning();
  return { scope: isOwnWork ? undefined : scope, origin: scope, isCertain: isOwnWork };
}

/* A request may pass the adapters of several deferrers. */
function within(deferrer: ScopeDeferrer, given: Scope | undefined): Scope | undefined {
  let scope = given;
  while (scope !== undefined && scope.deferrer !== deferrer) scope = scope.outer;
  return scope;
}

function unknownRequest(): DeferError {
  return optionError(
    'The option request must be a request that has passed expressDefer, fastifyDefer or DeferModule of this deferrer, or null for none; got another object.',
  );
}
