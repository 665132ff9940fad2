import type { RequestListener, Server, ServerOptions } from 'node:http';
import { NodeServer } from '../node/node-http.ts';

type NodeFunction = (this: Server, options: unknown, listener: unknown) => void;

let adopted: Server | undefined;
/** Node's constructor has made the adopted object already. */
let isMade = false;

/**
 * What the engine's server extends: Node's server, or an object that exists already and is made one, with the engine's
 * fields. That is how `http.Server.call(this)` works, which a class cannot offer.
 */
export const ServerBase: typeof Server = Object.assign(base as never, {
  prototype: NodeServer.prototype,
});
Object.setPrototypeOf(ServerBase, NodeServer);

/** Whatever `make` constructs of a ServerBase is this object. */
export function adopt<Made>(object: Server, make: () => Made): Made {
  adopted = object;
  return make();
}

/** The same for a server that Node's constructor has made already. */
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
