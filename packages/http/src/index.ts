/// <reference types="node" />
export { createServer } from './create-server.ts';
export { engine, type Engine } from './engine.ts';
export { serverFactory, type FastifyServerOptions } from './server-factory.ts';
