/// <reference types="node" />
export { createServer, type EngineServerOptions } from './server/create-server.ts';
export type { StoredHeaders, StoredResponse } from './response-store/stored-response.ts';
export type { RequestHead } from './request/request-head.ts';
export type {
  EngineLines,
  LineSink,
  LineSource,
  LineTemplate,
  LineWriting,
  ServerLines,
} from './engine-log/engine-lines.ts';
export {
  responseStoreOf,
  type ResponseStore,
  type ResponseStoreStats,
  type Outcome,
  type Refusal,
} from './response-store/response-store.ts';
export { observeExchanges, type ExchangeObserver } from './exchange-observer.ts';
export { proxyHeaderOf, type ProxyHeader, type ProxyValue } from './connection/proxy-header.ts';
export type { ProxyProtocolOptions } from './server/proxy-options.ts';
export { engine, type Engine, type ServerEngine } from './engine.ts';
export { runThreads, type Threads, type ThreadsEvents } from './threads/run-threads.ts';
export type { ThreadsOptions } from './threads/options.ts';
export { serverFactory, type FastifyServerOptions } from './server/server-factory.ts';
