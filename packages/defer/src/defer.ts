import type { AfterOptions, DeferCallOptions } from './job/call-options.ts';
import { onlyInstance } from './create-defer.ts';
import type { JobDefinition } from './job/job.ts';
import type { Deferred } from './sink-queue/pending-job.ts';
import { scopeNamedBy } from './request/owner.ts';
import { scopes, type ScopeDeferrer } from './request/scope.ts';
import type { RunDelivery } from './sink.ts';

function deferrerFor(options: { readonly request?: object | null } | undefined): ScopeDeferrer {
  const named = options?.request;
  const scope = named == null ? scopes.getStore() : scopeNamedBy(named);
  return scope?.deferrer ?? onlyInstance();
}

interface Defer {
  /**
   * Sends a job to its sink after the response of the current request, from any depth of its code, or at once outside a
   * request. The response waits for the job's level automatically.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_NO_INSTANCE, _UNKNOWN_JOB, _UNKNOWN_SINK, _UNSERIALISABLE, _TOO_LARGE,
   * _REFUSED, _LEVEL, _FULL, _CLOSED, _OPTION: if it throws, nothing was kept
   * @example
   * ```ts
   * defer(sendMail, { to: user.mail }, { key: order.id, level: 'disk', when: 'success' });
   * ```
   */
  <Data>(job: JobDefinition<Data>, data: Data, options?: DeferCallOptions): Deferred;
  (job: JobDefinition<undefined>): Deferred;
  /**
   * Runs a closure after the response. It exists only in memory, so any other level is a type error. It gets its
   * delivery: an id, its only attempt, and a signal that aborts when its time is up or the app closes.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_NO_INSTANCE, _FULL, _CLOSED, _LEVEL
   */
  after(work: (delivery: RunDelivery) => unknown, options?: AfterOptions): void;
}

export const defer: Defer = Object.assign(
  <Data>(job: JobDefinition<Data>, data?: Data, options?: DeferCallOptions): Deferred =>
    deferrerFor(options).defer(job, data as Data, options),
  {
    after(work: (delivery: RunDelivery) => unknown, options?: AfterOptions): void {
      deferrerFor(options).after(work, options);
    },
  },
);

/*
 * `@redline/response-cache`, where it is installed too, uses this to renew responses after others have been sent. Such work is
 * then counted, bounded and awaited at shutdown like other closures.
 */
const afterResponse: unique symbol = Symbol.for('redline.after-response') as never;
(globalThis as { [afterResponse]?: Defer['after'] })[afterResponse] ??= (work) => defer.after(work);
