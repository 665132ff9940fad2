import { Deferrer } from './deferrer.ts';
import { registerInstance } from './instances.ts';
import { resolveOptions, type DeferOptions } from './options.ts';

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
