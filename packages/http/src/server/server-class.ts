import type { Server } from 'node:http';
import { kNodeServer, NodeServer } from '../node/node-http.ts';
import { adopt } from './server-base.ts';
import { EngineServer } from './server.ts';
import { noteServer } from './shared-servers.ts';

/**
 * The engine's `http.Server`: works with and without `new`, as a base class, and on an object of a class that inherits from
 * it by hand. Node's own servers are instances of it too.
 */
export const ServerClass: typeof Server = server as never;

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
