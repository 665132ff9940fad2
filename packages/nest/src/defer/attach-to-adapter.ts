import type { AbstractHttpAdapter } from '@nestjs/core';
import type { Deferrer } from '@redline/defer';
import { expressDefer } from '@redline/defer/express';
import { attachToFastify } from '@redline/defer/fastify';

/** Below Nest, so that guards, pipes, filters and 404s are in the request's scope as well. */
export function attachToAdapter(adapter: AbstractHttpAdapter, deferrer: Deferrer): void {
  if (adapter.getType() === 'fastify') attachToFastify(adapter.getInstance(), deferrer);
  else adapter.use(expressDefer(deferrer));
}
