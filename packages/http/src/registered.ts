import type { Server } from 'node:http';
import { createServer as enginesCreateServer } from './server/create-server.ts';
import { engine } from './engine.ts';
import { defineHidden } from './node/message-defaults.ts';
import { NodeServer, type Http, kNodeServer } from './node/node-http.ts';
import { isNodes } from './node/node-sources.ts';
import { createServerThrough } from './server/replaced-create-server.ts';
import { EngineServer } from './server/server.ts';
import { adopt } from './server/server-base.ts';
import { noteServer } from './server/shared-servers.ts';

// The engine's versions of node:http's exports, for the code that replaces Node's.

/**
 * Returns `createServer` and `Server` for node:http; the previous ones if the engine is not available.
 *
 * @param before The current `http.createServer`: Node's own, or a wrapper of it.
 */
export function enginesExports(
  before: Http['createServer'],
): Pick<Http, 'createServer' | 'Server'> {
  if (engine().name !== 'native') return { createServer: before, Server: NodeServer };
  for (const { prototype } of [NodeServer, EngineServer]) {
    defineHidden(prototype, 'constructor', ServerClass);
  }
  const createServer = isNodes(before) ? enginesCreateServer : createServerThrough(before);
  return { createServer: createServer as Http['createServer'], Server: ServerClass };
}

/**
 * The engine's `http.Server`: works with and without `new`, as a base class, and on an object of a class that inherits from
 * it by hand. Node's own servers are instances of it too.
 */
const ServerClass: typeof Server = server as never;

function server(this: unknown, options?: unknown, listener?: unknown): Server {
  const given = [options, listener] as const;
  const target: unknown = new.target;
  if (target === undefined) {
    return this instanceof EngineServer
      ? adopt(this, () => construct(given, EngineServer))
      : construct(given, ServerClass);
  }
  return construct(given, target);
}

function construct(given: readonly unknown[], target: unknown): Server {
  const made = Reflect.construct(EngineServer, given, target as never) as Server;
  noteServer(made);
  return made;
}

Object.defineProperties(server, {
  name: { value: 'Server' },
  prototype: { value: EngineServer.prototype },
  [kNodeServer]: { value: NodeServer },
  [Symbol.hasInstance]: {
    value(this: unknown, object: unknown) {
      const known = this === server ? NodeServer : this;
      return Function.prototype[Symbol.hasInstance].call(known as never, object);
    },
  },
});
Object.setPrototypeOf(server, Object.getPrototypeOf(NodeServer));
