import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  type MiddlewareConsumer,
  Module,
  type ModuleMetadata,
  type NestModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { EngineLines } from '@redline/http/pino';
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { FastifyReply, FastifyRequest } from 'fastify';

import { attachToExpress, type ExpressAdapterLike } from './attach-to-express.ts';
import { attachToFastify, type FastifyAdapterLike } from './attach-to-fastify.ts';
import { chooseRoutes } from './choose-routes.ts';
import { engineLinesOf } from './line/engine-lines.ts';
import { adapterError, checkFactory } from './errors.ts';
import { namedLoggers, PinoLogger } from './pino-logger.ts';
import { LoggerCore } from './logger-core.ts';
import { NativeLogger } from './native-logger.ts';
import { NestLogger } from './nest-logger.ts';
import { type LoggerModuleOptions, resolveOptions } from './options.ts';
import { WorkAttachment } from './work/attach-to-work.ts';

/** Options of `LoggerModule.forRootAsync()`. */
export interface LoggerModuleAsyncOptions<
  Request = FastifyRequest,
  Reply = FastifyReply,
> extends Pick<ModuleMetadata, 'imports'> {
  /** The arguments of `useFactory`. */
  inject?: FactoryProvider['inject'];
  /** Creates the options. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the caller's to type
  useFactory: (
    ...args: any[]
  ) => LoggerModuleOptions<Request, Reply> | Promise<LoggerModuleOptions<Request, Reply>>;
}

/**
 * Attaches pino to Fastify or Express itself: one line per response, a logger per request, and pino as the
 * writer of Nest's own logger. Global: imported once, in the root module.
 *
 * @throws {LoggerError} with a code that starts with `ERR_REDLINE_LOGGER_`
 * @example
 * @Module({ imports: [LoggerModule.forRoot({ requests: "errors" })] })
 * export class AppModule {}
 */
@Module({})
export class LoggerModule implements NestModule, OnModuleInit, OnApplicationShutdown {
  readonly #core: LoggerCore;
  readonly #host: HttpAdapterHost;
  readonly #config: ApplicationConfig;
  readonly #work: WorkAttachment;
  #detach: (() => void) | undefined;

  constructor(
    @Inject(LoggerCore) core: LoggerCore,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
    @Inject(ApplicationConfig) config: ApplicationConfig,
    @Inject(WorkAttachment) work: WorkAttachment,
  ) {
    this.#work = work;
    this.#core = core;
    this.#config = config;
    this.#host = host;
    this.#attach();
  }

  /** Takes static options. */
  static forRoot<Request = FastifyRequest, Reply = FastifyReply>(
    options: LoggerModuleOptions<Request, Reply> = {},
  ): DynamicModule {
    const resolved = resolveOptions(options);
    return defineLoggerModule({ provide: LoggerCore, useFactory: () => new LoggerCore(resolved) });
  }

  /**
   * Takes options from other providers.
   * @example
   * LoggerModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ level: config.get("LOG_LEVEL") }),
   * })
   */
  static forRootAsync<Request = FastifyRequest, Reply = FastifyReply>(
    options: LoggerModuleAsyncOptions<Request, Reply>,
  ): DynamicModule {
    checkFactory(options);
    const core: FactoryProvider = {
      provide: LoggerCore,
      inject: options.inject ?? [],
      useFactory: async (...args) =>
        new LoggerCore(resolveOptions(await options.useFactory(...args))),
    };
    return defineLoggerModule(core, options.imports);
  }

  configure(consumer: MiddlewareConsumer): void {
    chooseRoutes(consumer, this.#core, this.#config);
  }

  // A testing module is created before it has an adapter; any other app already has one.
  onModuleInit(): void {
    this.#attach();
    this.#work.start();
    const server: unknown = this.#host.httpAdapter?.getHttpServer?.();
    logOf(server)?.set(engineLinesOf(this.#core));
  }

  async onApplicationShutdown(): Promise<void> {
    this.#detach?.();
    this.#work.detach();
    await this.#core.close();
  }

  #attach(): void {
    const adapter = this.#host.httpAdapter;
    const type: unknown = adapter?.getType?.();
    if (this.#detach !== undefined || typeof type !== 'string' || type === '') return;
    if (type === 'fastify') {
      this.#detach = attachToFastify(adapter as unknown as FastifyAdapterLike, this.#core);
    } else if (type === 'express') {
      this.#detach = attachToExpress(adapter as unknown as ExpressAdapterLike, this.#core);
    } else throw adapterError(type);
  }
}

/** Returns the log of the engine's own responses, if the server is the engine's. */
function logOf(server: unknown): { set(lines: EngineLines): void } | undefined {
  return typeof server === 'object' && server !== null
    ? Reflect.get(server, Symbol.for('redline.serverLog'))
    : undefined;
}

/* Created before Nest creates the handlers of messages, which it does before its modules are initialised. */
const work: FactoryProvider<WorkAttachment> = {
  provide: WorkAttachment,
  inject: [LoggerCore, ModuleRef, ModulesContainer],
  useFactory(core: LoggerCore, ref: ModuleRef, modules: ModulesContainer) {
    // Nest does not expose its container, by which it knows the app of a handler.
    const { container = modules } = ref as unknown as { container?: object };
    return WorkAttachment.attach(core, { container, modules });
  },
};

/** Defines the module and its providers, for any names of its options. */
export function defineLoggerModule(
  core: Provider,
  imports: ModuleMetadata['imports'] = [],
): DynamicModule {
  const loggers = namedLoggers();
  return {
    module: LoggerModule,
    global: true,
    imports,
    providers: [core, work, NestLogger, NativeLogger, PinoLogger, ...loggers],
    exports: [LoggerCore, NestLogger, NativeLogger, PinoLogger, ...loggers],
  };
}
