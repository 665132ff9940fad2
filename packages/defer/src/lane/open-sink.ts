import type { SinkHost } from '../sink.ts';
import type { LaneHost } from './lane-host.ts';
import type { ResolvedLane } from './lane-options.ts';

/** Opens the sink of a lane. A failure is reported, and stops nothing. */
export async function openSink(
  { sink, name, ordered, sendTimeoutMs }: ResolvedLane,
  { logger, clock, spans }: LaneHost,
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
