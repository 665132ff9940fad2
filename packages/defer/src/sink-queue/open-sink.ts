import type { SinkHost } from '../sink.ts';
import type { SinkQueueHost } from './sink-queue-host.ts';
import type { ResolvedQueue } from './lane-options.ts';

/** Opens the sink of a queue. Reports a failure, which stops nothing. */
export async function openSink(
  { sink, name, ordered, sendTimeoutMs }: ResolvedQueue,
  { logger, clock, spans }: SinkQueueHost,
  reports: Pick<SinkHost, 'generation' | 'available'>,
): Promise<void> {
  const warn: SinkHost['warn'] = (message, error) =>
    logger.warn(`defer, sink ${name}: ${message}`, error);
  try {
    await sink.open?.({ name, spans, ordered, sendTimeoutMs, clock, warn, ...reports });
  } catch (error) {
    warn('could not be opened; retrying.', error);
  }
}
