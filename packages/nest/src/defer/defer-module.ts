import { inspect } from 'node:util';
import {
  Inject,
  Logger,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { createDefer, DeferError, type Deferrer } from '@redline/defer';
import { notAnObject } from '../unknown-option.ts';
import { DeferService, deferrerToken } from './defer-service.ts';
import { DeferredMethods, MethodCalls } from './deferred-methods.ts';
import type { DeferModuleAsyncOptions, DeferModuleOptions } from './options.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { expressDefer } from '@redline/defer/express';
import { attachToFastify } from '@redline/defer/fastify';

/** The sink that `@AfterResponse` uses above level memory. */
const methodsSink = 'methods';

/**
 * Runs work after the response, on Fastify and on Express: `@AfterResponse()` on methods, `DeferService`, and `defer()` of
 * `@redline/defer` from any code of a request. Import it once, in the root module: it is global.
 *
 * It drains when the server has sent its last response, before any provider's `onApplicationShutdown`, and closes in its
 * own.
 *
 * @example
 * ```ts
 * @Module({
 *   imports: [
 *     DeferModule.forRoot({
 *       sinks: { mail: bullmq(new Queue('mail', { connection })) },
 *       journal: { directory: '/var/lib/shop/defer' },
 *     }),
 *   ],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class DeferModule implements OnModuleInit, OnApplicationShutdown {
  readonly #deferrer: Deferrer;
  readonly #host: HttpAdapterHost;
  readonly #methods: DeferredMethods;
  #isAttached = false;
  #drainedMs = 0;

  constructor(
    @Inject(deferrerToken) deferrer: Deferrer,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
    @Inject(DeferredMethods) methods: DeferredMethods,
  ) {
    this.#deferrer = deferrer;
    this.#host = host;
    this.#methods = methods;
    this.#attach();
  }

  /** Takes static options. The deferrer itself is created with the app. */
  static forRoot(options: DeferModuleOptions = {}): DynamicModule {
    return define({ provide: optionsToken, useFactory: () => options });
  }

  /**
   * Takes options from other providers.
   *
   * @example
   * ```ts
   * DeferModule.forRootAsync({
   *   inject: [Redis],
   *   useFactory: (client: Redis) => ({ sinks: { audit: redisStreams({ client, stream: 'audit' }) } }),
   * })
   * ```
   */
  static forRootAsync(options: DeferModuleAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory } = options;
    if (typeof useFactory !== 'function') {
      throw new DeferError(
        'ERR_REDLINE_DEFER_OPTION',
        `The option useFactory of DeferModule must be a function that returns the options; got ${inspect(useFactory, { depth: 1 })}.`,
      );
    }
    return define({ provide: optionsToken, inject, useFactory }, imports);
  }

  // A testing module is created before it has an adapter; any other app already has one.
  async onModuleInit(): Promise<void> {
    this.#attach();
    this.#methods.explore();
    await this.#deferrer.ready();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#methods.forget();
    const { drainMs } = this.#deferrer.options;
    await this.#deferrer.close({ drainMs: Math.max(0, drainMs - this.#drainedMs) });
  }

  async #drain(): Promise<void> {
    const { clock } = this.#deferrer;
    const begunAtMs = clock.now();
    await this.#deferrer.drain();
    this.#drainedMs = clock.now() - begunAtMs;
  }

  #attach(): void {
    const adapter = this.#host.httpAdapter;
    const type: unknown = adapter?.getType?.();
    if (this.#isAttached || typeof type !== 'string' || type === '') return;
    this.#isAttached = true;
    attachToAdapter(adapter, this.#deferrer);
    drainBehindServer(adapter, () => this.#drain());
  }
}

const optionsToken = Symbol('DeferModuleOptions');

function define(
  options: FactoryProvider,
  imports: NonNullable<ModuleMetadata['imports']> = [],
): DynamicModule {
  return {
    module: DeferModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [
      options,
      { provide: MethodCalls, useFactory: () => new MethodCalls() },
      { provide: deferrerToken, inject: [optionsToken, MethodCalls], useFactory: makeDeferrer },
      DeferredMethods,
      DeferService,
    ],
    exports: [deferrerToken, DeferService],
  };
}

function makeDeferrer(given: DeferModuleOptions, calls: MethodCalls): Deferrer {
  requireObject('DeferModule', given);
  const { methods = {}, sinks = {}, sink, logger, ...options } = given;
  requireObject('methods of DeferModule', methods);
  requireObject('sinks of DeferModule', sinks);
  const { concurrency, ...sinkOptions } = methods;
  if (concurrency !== undefined) calls.options = { concurrency };
  const names = Object.keys(sinks);
  const onlySink = names.length === 1 ? names[0] : undefined;
  const defaultSink = sink ?? onlySink;
  return createDefer<string>({
    ...options,
    ...(defaultSink !== undefined && { sink: defaultSink }),
    sinks: { ...sinks, [methodsSink]: { ...sinkOptions, sink: calls } },
    logger: logger ?? nestLogger(),
  });
}

function requireObject(of: string, options: object): void {
  const wrong = notAnObject(of, options);
  if (wrong !== undefined) throw new DeferError('ERR_REDLINE_DEFER_OPTION', wrong);
}

function nestLogger(): {
  warn(message: string, error?: unknown): void;
  log(message: string): void;
} {
  const logger = new Logger('Defer');
  return {
    warn: (message, error) => {
      if (error instanceof Error) logger.warn(message, error.stack);
      else logger.warn(message);
    },
    log: (message) => logger.log(message),
  };
}

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
