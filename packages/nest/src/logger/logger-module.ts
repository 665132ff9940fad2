import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type ModuleMetadata,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

import { attachToFastify, type FastifyAdapterLike } from './attach-to-fastify.ts';
import { adapterError } from './errors.ts';
import { namedLoggers } from './inject-logger.ts';
import { LoggerCore } from './logger-core.ts';
import { NestLogger } from './nest-logger.ts';
import { type LoggerModuleOptions, resolveOptions } from './options.ts';
import { PinoLogger } from './pino-logger.ts';

/** Options of `LoggerModule.forRootAsync()`. */
export interface LoggerModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** What `useFactory` is called with. */
  inject?: FactoryProvider['inject'];
  /** Makes the options. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the caller's to type
  useFactory: (...args: any[]) => LoggerModuleOptions | Promise<LoggerModuleOptions>;
}

/**
 * pino attached to Fastify itself: one line per response, a logger per request, and pino behind
 * Nest's own logger. Global: imported once, in the root module.
 *
 * @throws {LoggerError} with a code that starts with `ERR_REDLINE_LOGGER_`
 * @example
 * @Module({ imports: [LoggerModule.forRoot({ requests: "errors" })] })
 * export class AppModule {}
 */
@Module({})
export class LoggerModule implements OnModuleInit, OnApplicationShutdown {
  readonly #core: LoggerCore;
  readonly #host: HttpAdapterHost;
  #detach: (() => void) | undefined;

  constructor(
    @Inject(LoggerCore) core: LoggerCore,
    @Inject(HttpAdapterHost) host: HttpAdapterHost,
  ) {
    this.#core = core;
    this.#host = host;
    this.#attach();
  }

  /** With options known beforehand. */
  static forRoot(options: LoggerModuleOptions = {}): DynamicModule {
    const resolved = resolveOptions(options);
    return define({ provide: LoggerCore, useFactory: () => new LoggerCore(resolved) });
  }

  /**
   * With options that other providers make.
   * @example
   * LoggerModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ level: config.get("LOG_LEVEL") }),
   * })
   */
  static forRootAsync(options: LoggerModuleAsyncOptions): DynamicModule {
    const core: FactoryProvider = {
      provide: LoggerCore,
      inject: options.inject ?? [],
      useFactory: async (...args) =>
        new LoggerCore(resolveOptions(await options.useFactory(...args))),
    };
    return define(core, options.imports);
  }

  // A testing module is made before it has an adapter; any other app already has one.
  onModuleInit(): void {
    this.#attach();
  }

  async onApplicationShutdown(): Promise<void> {
    this.#detach?.();
    await this.#core.close();
  }

  #attach(): void {
    const adapter = this.#host.httpAdapter;
    const type: unknown = adapter?.getType?.();
    if (this.#detach !== undefined || typeof type !== 'string' || type === '') return;
    if (type !== 'fastify') throw adapterError(type);
    this.#detach = attachToFastify(adapter as unknown as FastifyAdapterLike, this.#core);
  }
}

function define(core: Provider, imports: ModuleMetadata['imports'] = []): DynamicModule {
  const loggers = namedLoggers();
  return {
    module: LoggerModule,
    global: true,
    imports,
    providers: [core, NestLogger, PinoLogger, ...loggers],
    exports: [NestLogger, PinoLogger, ...loggers],
  };
}
