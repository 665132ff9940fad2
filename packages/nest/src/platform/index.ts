export { engine, type Engine } from '@redline/http';
export { PlatformError, type PlatformErrorCode } from './errors.ts';
export type { FastifyOptions, RedlineApplicationOptions } from './options.ts';
export { RedlineFactory } from './redline-factory.ts';
