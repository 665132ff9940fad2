/// <reference types="node" />
export { createServer, type EngineServerOptions } from './create-server.ts';
export { forgetAnswer, keepAnswer, type KeptAnswer } from './kept-answers.ts';
export { engine, type Engine } from './engine.ts';
export type { ServerEngine } from './served-by.ts';
export { runThreads, type Threads, type ThreadsEvents } from './threads/run-threads.ts';
export type { ThreadsOptions } from './threads/options.ts';
export { serverFactory, type FastifyServerOptions } from './server-factory.ts';
