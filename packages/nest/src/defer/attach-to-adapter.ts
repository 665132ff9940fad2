import type { AbstractHttpAdapter } from '@nestjs/core';
import type { Deferrer } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { attachToFastify } from '@redline/defer/fastify';

/** Below Nest, so that guards, pipes, filters and 404s are in the request's scope as well. */
export function attachToAdapter(adapter: AbstractHttpAdapter, deferrer: Deferrer): void {
  if (adapter.getType() === 'fastify') attachToFastify(adapter.getInstance(), deferrer);
  else adapter.use(expressDefer(deferrer));
}

/**
 * Has `drain` called when the server has answered its last request. Nest closes it before any provider's
 * `onApplicationShutdown`, in which what deferred work needs may go; and as a global module ours is among the last.
 */
export function drainBehindServer(adapter: AbstractHttpAdapter, drain: () => Promise<void>): void {
  const close = adapter.close.bind(adapter) as () => Promise<void>;
  adapter.close = async () => {
    await close();
    await drain();
  };
}
