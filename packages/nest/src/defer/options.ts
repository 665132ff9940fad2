import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import type { DeferOptions, SinkQueueOptions, Level, When } from '@redline/defer';
import type { HandlersOptions } from '@redline/defer/sinks/handlers';

export interface DeferModuleOptions extends DeferOptions {
  /**
   * Options for running the methods marked with `@AfterResponse({ level })`: all options of a sink's queue except the sink, and the
   * number of calls of a batch that run at a time (`concurrency`, 16 by default).
   */
  methods?: Omit<SinkQueueOptions, 'sink'> & HandlersOptions;
}

export interface DeferModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  inject?: FactoryProvider['inject'];
  // oxlint-disable-next-line typescript/no-explicit-any -- what is injected is the caller's to type
  useFactory: (...dependencies: any[]) => DeferModuleOptions | Promise<DeferModuleOptions>;
}

export interface AfterResponseOptions<Arguments extends unknown[] = unknown[]> {
  /**
   * The failures that the call survives. Above `memory` its arguments must be JSON, and the method one of a provider or a
   * controller that is not request-scoped: another process may have to run it.
   * @default 'memory'
   */
  level?: Exclude<Level, 'outbox'>;
  /** @default 'always' */
  when?: When;
  /** Identifies the call, if the module's `methods` are `ordered: 'key'`. */
  key?: (...args: Arguments) => string;
  /**
   * Delay of the call in milliseconds. Its arguments must be JSON then, at level memory too, and the class not
   * request-scoped. Not for the level `sink`.
   */
  delayMs?: number;
  /** Returns the time of the call for its arguments, as a Date or milliseconds since 1970. */
  runAt?: (...args: Arguments) => Date | number;
  /**
   * The name of the method in the journal; calls left by an exited process are found by it.
   * @default 'Class.method'
   */
  name?: string;
}
