import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { types } from 'node:util';
import { http, NodeServer } from '../node/node-http.ts';
import { symbolOf } from '../node/node-internals.ts';
import { nodeOnlyOption, replacementServes, servedByNode } from '../engine.ts';
import { takeOver } from './server-base.ts';
import { adoptSettings } from './server-settings.ts';
import { EngineServer } from './server.ts';
import { noteServer } from './shared-servers.ts';

// An agent loaded before `register` has replaced `http.createServer` with a function that calls Node's own, which creates a
// Node server. The agent refers to that object, so it is converted into the engine's server.

type CreateServer = typeof http.createServer;
type Given = readonly unknown[];

/** Wraps a replaced `http.createServer`, and has the engine serve the servers that it returns. */
export function createServerThrough(replacement: CreateServer): CreateServer {
  function createServer(this: unknown, ...given: Given): Server {
    const server = Reflect.apply(replacement, this, given) as Server;
    return isNodesOwn(server) ? taken(server, given) : server;
  }
  Object.defineProperty(createServer, 'length', { value: replacement.length });
  return createServer as never;
}

function isNodesOwn(server: unknown): server is Server {
  if (typeof server !== 'object' || server === null) return false;
  // Private fields would be defined on the proxy instead of its target.
  if (types.isProxy(server)) return false;
  return Reflect.getPrototypeOf(server) === NodeServer.prototype && !(server as Server).listening;
}

function taken(server: Server, given: Given): Server {
  const option = nodeOnlyOption(server);
  if (option !== undefined) {
    servedByNode(server, option);
    return server;
  }
  // An own method made from Node's would not call the engine's.
  const method = OWN_METHODS.find((name) => Object.hasOwn(server, name));
  if (method !== undefined) {
    replacementServes(server, `has a ${method} of its own`);
    return server;
  }
  const restore = adoptSettings(server);
  Reflect.setPrototypeOf(server, EngineServer.prototype);
  takeOver(server, () => new EngineServer(optionsOf(server, given)));
  restore();
  noteServer(server);
  return server;
}

const OWN_METHODS = Object.getOwnPropertyNames(EngineServer.prototype).filter(
  (name) =>
    name !== 'constructor' &&
    typeof Object.getOwnPropertyDescriptor(EngineServer.prototype, name)!.value === 'function',
);

/** Returns the engine's options as given, and the message classes that the server has now. */
function optionsOf(server: Server, [options]: Given): ServerOptions {
  const request = classOf<typeof IncomingMessage>(server, 'IncomingMessage', http.IncomingMessage);
  const response = classOf<typeof ServerResponse>(server, 'ServerResponse', http.ServerResponse);
  return {
    ...(typeof options === 'object' ? options : undefined),
    IncomingMessage: request,
    ServerResponse: response,
  } as ServerOptions;
}

function classOf<Class>(server: Server, name: string, usual: Class): Class | undefined {
  const key = symbolOf(server, name);
  const found = key && (server as never as Record<symbol, Class | undefined>)[key];
  return found === usual ? undefined : found;
}

/** Replaces an export, even if an agent has made it read-only. */
export function replaceExport(name: 'createServer' | 'Server', value: unknown): void {
  const { configurable, enumerable, writable } = Object.getOwnPropertyDescriptor(http, name)!;
  if (configurable) {
    const own = { value, configurable, enumerable: enumerable!, writable: true };
    Object.defineProperty(http, name, own);
  } else if (writable) {
    (http as Record<string, unknown>)[name] = value;
  }
}
