import { Deferrer } from './deferrer.ts';
import { resolveOptions, type DeferOptions } from './options.ts';
import { DeferError } from './errors.ts';

/**
 * Opens the journal, if one is configured, and the sinks. The first jobs may be deferred at once.
 *
 * @throws {DeferError} ERR_REDLINE_DEFER_OPTION, _UNKNOWN_SINK, _LEVEL, _JOURNAL, _JOURNAL_VERSION, _SEAL
 * @example
 * ```ts
 * const deferrer = createDefer({
 *   sinks: { mail: bullmq(new Queue('mail', { connection })) },
 *   journal: { directory: '/var/lib/shop/defer' },
 * });
 * app.register(fastifyDefer, { deferrer });
 * ```
 */
export function createDefer<const SinkName extends string>(
  options: DeferOptions<SinkName>,
): Deferrer {
  const deferrer = new Deferrer(resolveOptions(options));
  registerInstance(deferrer);
  return deferrer;
}

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
