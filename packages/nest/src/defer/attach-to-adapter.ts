import type { AbstractHttpAdapter } from '@nestjs/core';
import type { Deferrer } from '@redline/defer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { expressDefer } from '@redline/defer/express';
import { attachToFastify } from '@redline/defer/fastify';

type RequestHook = (request: FastifyRequest, reply: FastifyReply, next: () => void) => unknown;

/** The part of Nest's `FastifyAdapter` that is used. */
interface FastifyAdapterLike {
  /** The last argument of `setOnRequestHook`. */
  onRequestHook?: RequestHook | undefined;
  getInstance(): FastifyInstance;
  setOnRequestHook(hook: RequestHook | undefined): void;
}

/** Attaches below Nest, so that guards, pipes, filters and 404s are in the request's scope as well. */
export function attachToAdapter(adapter: AbstractHttpAdapter, deferrer: Deferrer): void {
  if (adapter.getType() !== 'fastify') return void adapter.use(expressDefer(deferrer));
  const fastify = adapter as unknown as FastifyAdapterLike;
  openAhead(fastify, attachToFastify(fastify.getInstance(), deferrer));
}

/*
 * Nest's middleware runs ahead of the hooks of modules. The adapter has one place for a hook ahead of it, which other code,
 * such as the logger, uses as well: that hook is called within ours.
 */
function openAhead(adapter: FastifyAdapterLike, open: RequestHook): void {
  const set = adapter.setOnRequestHook.bind(adapter);
  adapter.setOnRequestHook = (hook) => set(hook === undefined ? open : within(open, hook));
  adapter.setOnRequestHook(adapter.onRequestHook);
}

function within(open: RequestHook, hook: RequestHook): RequestHook {
  const both: RequestHook = function (this: unknown, request, reply, next) {
    let result: unknown;
    open(request, reply, () => {
      result = hook.call(this, request, reply, next);
    });
    return result;
  };
  // The marks of the hook apply to both.
  for (const mark of Object.getOwnPropertySymbols(hook)) {
    Object.defineProperty(both, mark, Object.getOwnPropertyDescriptor(hook, mark)!);
  }
  return both;
}

/**
 * Calls `drain` when the server has sent its last response. Nest closes the server before any provider's
 * `onApplicationShutdown`, which may close what deferred work needs; and as a global module ours is among the last.
 */
export function drainBehindServer(adapter: AbstractHttpAdapter, drain: () => Promise<void>): void {
  const close = adapter.close.bind(adapter) as () => Promise<void>;
  adapter.close = async () => {
    await close();
    await drain();
  };
}
