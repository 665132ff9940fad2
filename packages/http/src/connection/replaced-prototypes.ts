import type { EngineRequest as Request, EngineResponse as Response } from '../exchange.ts';
import { defineOwn } from '../node/message-defaults.ts';
import { http } from '../node/node-http.ts';
import { BodylessRequest, EngineRequest } from '../request/request.ts';
import { kConnection, kLocals, kReleased, kTickBytes } from '../node/message-state.ts';
import { EngineResponse } from '../response/response.ts';

// Express sets the prototypes of request and response to its app's, whose chains end in Node's. Ours are inserted before
// those, once per app prototype; its messages are then the engine's again. Details: docs/design/http.md.

const incoming = http.IncomingMessage.prototype;
const outgoing = http.ServerResponse.prototype;

/** Puts our prototypes back into both chains if an app has replaced them. */
export function mendPrototypes(request: Request, response: Response): void {
  // Fields that every prototype of ours has and no message has itself.
  if (request[kReleased] === undefined) insert(BodylessRequest.prototype, incoming, request);
  if (response[kTickBytes] === undefined) insert(EngineResponse.prototype, outgoing, response);
}

function insert(ours: object, nodes: object, message: object): void {
  let last = message;
  for (;;) {
    const prototype = Reflect.getPrototypeOf(last);
    if (prototype === null) return;
    if (prototype === nodes) break;
    last = prototype;
  }
  Reflect.setPrototypeOf(last, ours);
}

// Express sets `request.res`, replaces the prototypes, and reads `response.locals`, before any other code sees the messages.
// So the first access installs the `locals` accessor, and the third restores the prototypes.
Object.defineProperty(EngineRequest.prototype, 'res', {
  configurable: true,
  get: () => undefined,
  set(this: Request, response: unknown) {
    delete (EngineRequest.prototype as { res?: unknown }).res;
    watchLocals();
    defineOwn(this, 'res', response);
  },
});

function watchLocals(): void {
  if (Object.hasOwn(outgoing, 'locals')) return;
  Object.defineProperty(outgoing, 'locals', { configurable: true, get: getLocals, set: setLocals });
}

function getLocals(this: Response): unknown {
  if (this[kConnection] !== undefined) mendPrototypes(this.req, this);
  return this[kLocals];
}

function setLocals(this: Response, locals: unknown): void {
  if (this[kConnection] === undefined) {
    defineOwn(this, 'locals', locals);
    return;
  }
  this[kLocals] = locals;
  // A mounted app of another copy of Express reads it again, which restores the prototypes again.
  Object.defineProperty(this, 'locals', ownLocals);
}

const ownLocals = { configurable: true, enumerable: true, get: getLocals, set: setLocals };
