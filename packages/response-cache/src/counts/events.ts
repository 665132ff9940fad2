import { channel, type Channel } from 'node:diagnostics_channel';

export type CacheEvent = 'hits' | 'stale' | 'misses' | 'bypasses' | 'drop' | 'outage' | 'recovery';

const channels: Readonly<Record<CacheEvent, Channel>> = {
  hits: channel('redline:response-cache:hit'),
  stale: channel('redline:response-cache:stale'),
  misses: channel('redline:response-cache:miss'),
  bypasses: channel('redline:response-cache:bypass'),
  drop: channel('redline:response-cache:drop'),
  outage: channel('redline:response-cache:outage'),
  recovery: channel('redline:response-cache:recovery'),
};

/** The message to subscribers of the node:diagnostics_channel channels. */
export interface CacheMessage {
  /** The `name` of the cache. */
  readonly cache: string;
  /** The key; the comma-separated tags of an invalidation; the reason of an outage; its duration. */
  readonly about: string;
}

export function publishEvent(event: CacheEvent, cache: string, about: string): void {
  const to = channels[event];
  if (to.hasSubscribers) to.publish({ cache, about } satisfies CacheMessage);
}
