import type { EngineRequest as Request, EngineResponse as Response } from '../exchange.ts';
import { defineOwn } from '../node/message-defaults.ts';
import { http } from '../node/node-http.ts';
import { BodylessRequest, EngineRequest } from '../request/request.ts';
import { kConnection, kLocals, kOver, kTickBytes } from '../node/message-state.ts';
import { EngineResponse } from '../response/response.ts';

// Express gives request and response the prototypes of its app, and those end in Node's. Ours are put in between, once for
// each such prototype; from then on its messages are the engine's again. docs/design/http.md says how and why.

const incoming = http.IncomingMessage.prototype;
const outgoing = http.ServerResponse.prototype;

/** Puts our prototypes back into the chains of both, where somebody's have taken their place. */
export function mendPrototypes(request: Request, response: Response): void {
  // What no message has of its own, and every prototype of ours.
  if (request[kOver] === undefined) insert(BodylessRequest.prototype, incoming, request);
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

// Express writes `request.res`, replaces the prototypes, and reads `response.locals`, before anything else can see the
// messages. So the first makes us listen, and the third is when we come in.
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
  // An app of another copy of Express, mounted in this one, reads it again: that is where we come in again.
  Object.defineProperty(this, 'locals', ownLocals);
}

const ownLocals = { configurable: true, enumerable: true, get: getLocals, set: setLocals };
