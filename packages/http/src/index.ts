/// <reference types="node" />
export { createServer, type EngineServerOptions } from './server/create-server.ts';
export type { Answer, AnswerHeaders, AnswerRequest } from './answers/answer.ts';
export type {
  AnswerLines,
  LineTemplate,
  LineWriting,
  ServerLines,
} from './answers/answer-lines.ts';
export {
  answersOf,
  type Answers,
  type AnswerStats,
  type Outcome,
  type Refusal,
} from './answers/answers.ts';
export { proxyHeaderOf, type ProxyHeader, type ProxyValue } from './connection/proxy-header.ts';
export type { ProxyProtocolOptions } from './server/proxy-options.ts';
export type { LineSink, LineSource } from './answers/line-sink.ts';
export { engine, type Engine } from './engine.ts';
export type { ServerEngine } from './served-by.ts';
export { runThreads, type Threads, type ThreadsEvents } from './threads/run-threads.ts';
export type { ThreadsOptions } from './threads/options.ts';
export { serverFactory, type FastifyServerOptions } from './server/server-factory.ts';
