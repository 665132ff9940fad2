/// <reference types="node" />
export { createServer } from './create-server.ts';
export { engine, type Engine } from './engine.ts';
export { runThreads, type Threads, type ThreadsEvents } from './threads/run-threads.ts';
export type { ThreadsOptions } from './threads/options.ts';
export { serverFactory, type FastifyServerOptions } from './server-factory.ts';
