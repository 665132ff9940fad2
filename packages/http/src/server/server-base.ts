import type { RequestListener, Server, ServerOptions } from 'node:http';
import { NodeServer } from '../node/node-http.ts';

type NodeFunction = (this: Server, options: unknown, listener: unknown) => void;

let adopted: Server | undefined;
/** Node's constructor has initialised the adopted object already. */
let isMade = false;

/**
 * Base of the engine's server: constructs Node's server, or turns an existing object into one with the engine's fields. This
 * makes `http.Server.call(this)` work, which a class cannot offer.
 */
export const ServerBase: typeof Server = Object.assign(base as never, {
  prototype: NodeServer.prototype,
});
Object.setPrototypeOf(ServerBase, NodeServer);

/** Makes the next construction of a ServerBase return this object. */
export function adopt<Made>(object: Server, make: () => Made): Made {
  adopted = object;
  return make();
}

/** Like `adopt`, for a server that Node's constructor has already initialised. */
export function takeOver<Made>(server: Server, make: () => Made): Made {
  isMade = true;
  return adopt(server, make);
}

function base(options: ServerOptions, listener: RequestListener): Server {
  if (adopted === undefined) {
    return Reflect.construct(NodeServer, [options, listener], new.target as never) as Server;
  }
  const object = adopted;
  adopted = undefined;
  if (isMade) isMade = false;
  else (NodeServer as never as NodeFunction).call(object, options, listener);
  return object;
}
