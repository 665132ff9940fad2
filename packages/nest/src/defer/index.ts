export { AfterResponse } from './after-response.ts';
export { DeferModule } from './defer-module.ts';
export { DeferService } from './defer-service.ts';
export { DeferModuleError, deferModuleErrorDocs, type DeferModuleErrorCode } from './errors.ts';
export { InjectDelivery } from './inject-delivery.ts';
export type {
  AfterResponseOptions,
  DeferModuleAsyncOptions,
  DeferModuleOptions,
} from './options.ts';
export { defer, DeferError, defineJob, type RunDelivery } from '@redline/defer';
